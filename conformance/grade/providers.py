"""Who answered: by host, by what a gateway's path names, by what only one provider or server says.

Data, in the order of how much each proves. A host is proof; a fingerprint is what a provider's answers have
and others' don't, as seen in recordings of theirs; the name of a folder is what whoever recorded says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Literal
from urllib.parse import urlsplit

from conformance.rules.reading import Reading
from conformance.types import WireName

UNKNOWN = "unknown"

ToldBy = Literal["address", "headers", "answer", "folder", "wire", "nothing"]
"""What tells a provider, the surest first: a ``folder`` is what whoever recorded says, a ``wire`` a guess."""

_HOSTS: tuple[tuple[str, str], ...] = (
    ("api.openai.com", "openai"),
    ("chatgpt.com", "chatgpt-codex"),
    ("openrouter.ai", "openrouter"),
    ("api.anthropic.com", "anthropic"),
    ("generativelanguage.googleapis.com", "google-gemini"),
    ("aiplatform.googleapis.com", "google-vertex"),
    ("services.ai.azure.com", "azure-ai"),
    ("models.inference.ai.azure.com", "azure-ai"),
    ("models.ai.azure.com", "azure-ai"),
    ("openai.azure.com", "azure"),
    ("cognitiveservices.azure.com", "azure"),
    ("models.github.ai", "github-models"),
    ("api.githubcopilot.com", "github-copilot"),
    ("api.x.ai", "xai"),
    ("api.groq.com", "groq"),
    ("api.mistral.ai", "mistral"),
    ("api.deepseek.com", "deepseek"),
    ("ollama.com", "ollama-cloud"),
    ("router.huggingface.co", "huggingface"),
    ("huggingface.co", "huggingface"),
    ("ai-gateway.vercel.sh", "vercel-gateway"),
    ("api.z.ai", "zai"),
    ("open.bigmodel.cn", "zai"),
    ("api.perplexity.ai", "perplexity"),
    ("api.cerebras.ai", "cerebras"),
    ("api.together.ai", "together"),
    ("api.together.xyz", "together"),
    ("api.fireworks.ai", "fireworks"),
    ("api.deepinfra.com", "deepinfra"),
    ("api.sambanova.ai", "sambanova"),
    ("integrate.api.nvidia.com", "nvidia"),
    ("api.novita.ai", "novita"),
    ("api.hyperbolic.xyz", "hyperbolic"),
    ("api.studio.nebius.ai", "nebius"),
    ("api.siliconflow.cn", "siliconflow"),
    ("api.siliconflow.com", "siliconflow"),
    ("api.moonshot.cn", "moonshot"),
    ("api.moonshot.ai", "moonshot"),
    ("api.minimax.io", "minimax"),
    ("api.minimax.chat", "minimax"),
    ("dashscope.aliyuncs.com", "alibaba"),
    ("dashscope-intl.aliyuncs.com", "alibaba"),
    ("ark.cn-beijing.volces.com", "bytedance"),
    ("api.doubleword.ai", "doubleword"),
    ("api.ai21.com", "ai21"),
    ("api.venice.ai", "venice"),
    ("api.avian.io", "avian"),
    ("api.upstage.ai", "upstage"),
    ("api.writer.com", "writer"),
    ("api.cloudflare.com", "cloudflare"),
    ("gateway.ai.cloudflare.com", "cloudflare"),
    ("snowflakecomputing.com", "snowflake"),
    ("databricks.com", "databricks"),
    ("azuredatabricks.net", "databricks"),
    ("inference.heroku.com", "heroku"),
    ("gateway.pydantic.dev", "pydantic-gateway"),
    ("api.portkey.ai", "portkey"),
    ("api.cohere.com", "cohere"),
    ("api.cohere.ai", "cohere"),
)
"""Hosts and domains, and who answers there."""

_AMAZON = re.compile(r"^(bedrock-mantle|bedrock)[.-].*\.(?:api\.aws|amazonaws\.com)$")

_PORTS: Mapping[int, str] = {11434: "ollama", 1234: "lm-studio"}
"""Ports that one server program has for its own, on any host."""

_PATHS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"/router/v2/"), "mirascope-router"),
    (re.compile(r"/backend-api/codex/"), "chatgpt-codex"),
    (re.compile(r"/api/v2/cortex/"), "snowflake"),
    (re.compile(r"/serving-endpoints/"), "databricks"),
    (re.compile(r"/api/(?:coding/)?paas/v4/"), "zai"),
    (re.compile(r"/compatible-mode/v1/"), "alibaba"),
    (re.compile(r"/model/[^/]+/(?:converse|invoke)"), "bedrock"),
    (re.compile(r"/v2/chat$"), "cohere"),
)
"""Paths that only one provider has."""

_AGENT = re.compile(r"^/vcr/([a-z0-9_-]+)/")
"""A test agent's path, which names the provider that it stands in front of."""

_HEADERS: tuple[tuple[str, str], ...] = (
    ("x-litellm-", "litellm-proxy"),
    ("x-portkey-", "portkey"),
    ("x-groq-", "groq"),
    ("x-ds-trace-id", "deepseek"),
    ("mistral-correlation-id", "mistral"),
    ("anthropic-organization-id", "anthropic"),
    ("apim-request-id", "azure"),
    ("azureml-model-session", "azure"),
    ("x-ms-deployment-name", "azure"),
    ("fireworks-", "fireworks"),
    ("x-together-", "together"),
    ("x-vercel-ai-", "vercel-gateway"),
    ("x-goog-", "google-gemini"),
    ("openai-organization", "openai"),
    ("openai-processing-ms", "openai"),
)
"""Beginnings of names of response headers that only one provider sends; gateways before whom they relay."""

_MEMBERS: tuple[tuple[str, str], ...] = (
    ("x_groq", "groq"),
    ("time_info", "cerebras"),
    ("timings", "llama.cpp"),
    ("search_results", "perplexity"),
    ("generationId", "vercel-gateway"),
    ("prompt_filter_results", "azure"),
    ("kv_transfer_params", "vllm"),
    ("prompt_logprobs", "vllm"),
    ("copilot_usage", "github-copilot"),
)
"""Members of an answer that only one provider sends."""

_USAGE: tuple[tuple[str, str], ...] = (
    ("num_sources_used", "xai"),
    ("cost_in_usd_ticks", "xai"),
    ("prompt_cache_hit_tokens", "deepseek"),
    ("avg_tok_per_sec", "mistralrs"),
)
"""Members of an answer's usage that only one provider sends."""

_FINGERPRINTS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"^fp_ollama$"), "ollama"),
    (re.compile(r"^b\d{3,6}-[0-9a-f]{7,12}$"), "llama.cpp"),
    (re.compile(r"_prod\d+_fp8_kvcache"), "deepseek"),
    (re.compile(r"^\d+\.\d+\.\d+-(?:dev\d*-)?sha-[0-9a-f]{7}"), "huggingface"),
    (re.compile(r"^vllm-\d"), "vllm"),
)
"""What a provider's ``system_fingerprint`` looks like, where that tells."""

_IDS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"^gen-\d{10}-"), "openrouter"),
    (re.compile(r"^gen_[0-9A-Z]{26}"), "vercel-gateway"),
    (re.compile(r"^msg_(?:bdrk|vrtx)_"), UNKNOWN),
    (re.compile(r"^msg_01"), "anthropic"),
    (re.compile(r"^20\d{12}[0-9a-f]{16,18}$"), "zai"),
    (re.compile(r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}_us-(?:east|west)-\d$"), "xai"),
)
"""What the id of an answer looks like, where that tells."""

_OPENAI_NEVER = re.compile(
    r"/|\.gguf$|^(?:llama|qwen|mi[sx]tral|deepseek|gemma|gemini|claude|phi|kimi|glm|grok)",
    re.IGNORECASE,
)
"""Names of models that OpenAI does not serve; its own have no ``/``."""
_OPENAI_ID_NEVER = re.compile(r"^chat(?:cmpl)?-[0-9a-f]{32}$")
"""Ids of vLLM, SGLang and TGI."""
_ELSEWHERE = frozenset({"reasoning", "reasoning_content", "reasoning_details"})
"""Members of messages and deltas that OpenAI's Chat API has not, and servers that copy it have."""
_SERVER_OF_OPENAI = "cloudflare"

LONG_IDS: frozenset[str] = frozenset(
    {
        *("openai", "azure", "azure-ai", "anthropic", "bedrock-mantle", "google-vertex", "openrouter"),
        *("xai", "mistral", "groq", "deepseek", "perplexity", "cerebras", "together", "zai", "moonshot"),
        *("alibaba", "vercel-gateway", "writer", "github-copilot", "chatgpt-codex"),
    }
)
"""Providers all of whose answers' ids hold a run of characters too long to be typed, in 1,500 recordings."""

_OWNERS: Mapping[WireName, str] = {
    "anthropic-messages": "anthropic",
    "gemini": "google-gemini",
    "ollama": "ollama",
}
"""Who it is, over a wire that hardly anyone else speaks, when nothing else tells."""

_NAMES: Mapping[str, str] = {
    **{name: name for _, name in _HOSTS},
    "llamacpp": "llama.cpp",
    "llama-cpp": "llama.cpp",
    "llama.cpp": "llama.cpp",
    "ollama": "ollama",
    "vllm": "vllm",
    "sglang": "sglang",
    "mistralrs": "mistralrs",
    "lm-studio": "lm-studio",
    "azure": "azure",
    "gemini": "google-gemini",
    "zai-coder": "zai",
    "moonshotai": "moonshot",
    "bedrock": "bedrock",
    "chatgpt": "chatgpt-codex",
    "chatgpt-codex": "chatgpt-codex",
    "google-vertex": "google-vertex",
    "openai-compatible": "openai-compatible",
    "open-responses": "open-responses",
    "litellm": "litellm-proxy",
    "volcengine": "bytedance",
}
"""Names of folders that say who was recorded."""


def provider_of(
    reading: Reading, answers: tuple[Mapping[str, Any], ...], wire: WireName | None, file: str
) -> tuple[str, ToldBy]:
    """The provider or server program that answered, and what tells; ``unknown`` where nothing does.

    ``answers`` are objects of the answer, ``file`` is where it was recorded. A folder that names OpenAI is
    not believed where the answer is none of OpenAI's: servers that copy its API are recorded in such.
    """
    found: tuple[tuple[ToldBy, str | None], ...] = (
        ("address", by_url(reading.exchange.request.url)),
        ("headers", next(_by_headers(reading), None)),
        ("answer", next(_by_answer(answers), None)),
        ("folder", by_folder(file)),
        ("wire", _OWNERS.get(wire) if wire else None),
    )
    for told_by, name in found:
        if name is not None and not (told_by == "folder" and name == "openai" and _copied(reading, answers)):
            return name, told_by
    return UNKNOWN, "nothing"


def by_url(url: str) -> str | None:
    """The provider at an address, where host, port or path tell it."""
    try:
        where = urlsplit(url)
        host, port = (where.hostname or "").lower(), where.port
    except ValueError:
        return None
    if agent := _AGENT.match(where.path):
        return _NAMES.get(agent[1], agent[1])
    named = next((name for domain, name in _HOSTS if host == domain or host.endswith("." + domain)), None)
    named = named or next((name for domain, name in _HOSTS if host.endswith("-" + domain)), None)
    if named:
        return named
    if amazon := _AMAZON.match(host):
        return amazon[1]
    by_path = next((name for part, name in _PATHS if part.search(where.path)), None)
    return by_path or (_PORTS.get(port) if port else None)


_NEAR = 4
"""Folders farther from a file than this are about the checkout, not about the recording."""


def by_folder(file: str) -> str | None:
    """The provider that the folders nearest to a file name, the nearest first."""
    folders = PurePosixPath(file).parts[-2 : -2 - _NEAR : -1]
    return next((name for folder in folders if (name := _named(folder))), None)


def _named(folder: str) -> str | None:
    plain = folder.lower()
    return _NAMES.get(plain) or _NAMES.get(plain.replace("_", "-"))


def _copied(reading: Reading, answers: tuple[Mapping[str, Any], ...]) -> bool:
    """Whether an answer over one of OpenAI's wires holds what OpenAI never sends."""
    response = reading.exchange.response
    server = response.header("server") if response else None
    if server is not None and server.lower() != _SERVER_OF_OPENAI:
        return True
    for one in answers:
        of = one.get("response")
        places = (one, of) if isinstance(of, dict) else (one,)
        if any(_OPENAI_NEVER.search(model) for at in places if isinstance(model := at.get("model"), str)):
            return True
        if isinstance(name := one.get("id"), str) and _OPENAI_ID_NEVER.search(name):
            return True
        choices = one.get("choices")
        for choice in choices[:_NEAR] if isinstance(choices, list) else ():
            if not isinstance(choice, dict):
                continue
            said = choice.get("message", choice.get("delta"))
            if "stop_reason" in choice or (isinstance(said, dict) and not _ELSEWHERE.isdisjoint(said)):
                return True
    return False


def _by_headers(reading: Reading) -> Iterator[str]:
    response = reading.exchange.response
    names = {name.lower() for name, _ in response.headers} if response else set()
    server = (response.header("server") or "").lower() if response else ""
    if server.startswith("llama.cpp"):
        yield "llama.cpp"
    for beginning, provider in _HEADERS:
        if any(name.startswith(beginning) for name in names):
            yield provider


def _by_answer(answers: tuple[Mapping[str, Any], ...]) -> Iterator[str]:
    for one in answers:
        for pattern, provider in _IDS:
            if isinstance(one.get("id"), str) and pattern.search(one["id"]) and provider != UNKNOWN:
                yield provider
        for pattern, provider in _FINGERPRINTS:
            said = one.get("system_fingerprint")
            if isinstance(said, str) and pattern.search(said):
                yield provider
        yield from (provider for member, provider in _MEMBERS if member in one)
        usage = one.get("usage")
        if isinstance(usage, dict):
            yield from (provider for member, provider in _USAGE if member in usage)
