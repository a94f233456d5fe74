"""Dynamo's frontend, and a worker that gets its tokens from llama.cpp. Runs in the lab's environment.

The frontend does all that a client sees: the chat template, the tokens of a text and back, tool calls and
reasoning, the answers of each wire. A worker only makes tokens of tokens; this one asks llama.cpp for them,
so no GPU is needed.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import sys
from collections.abc import AsyncIterator
from typing import Any

from completion import PAUSE_S, Completion, LlamaCpp  # type: ignore[import-not-found]
from dynamo.frontend.main import main as frontend  # type: ignore[import-not-found]
from dynamo.llm import (  # type: ignore[import-not-found]
    ModelInput,
    ModelRuntimeConfig,
    ModelType,
    WorkerType,
    register_model,
)
from dynamo.runtime import DistributedRuntime  # type: ignore[import-not-found]

DISCOVERY, REQUESTS = "file", "tcp"  # without etcd and NATS; the folder is named by DYN_FILE_KV


class Worker:
    """Goes on from a prompt of tokens."""

    def __init__(self, engine: LlamaCpp) -> None:
        self._engine = engine

    async def generate(self, request: dict[str, Any], context: Any) -> AsyncIterator[dict[str, Any]]:
        sampling = request.get("sampling_options") or {}
        temperature = sampling.get("temperature")
        for index in range(sampling.get("n") or 1):
            completion = await self._engine.complete(
                request["token_ids"],
                temperature=0 if temperature is None else temperature,
                most=(request.get("stop_conditions") or {}).get("max_tokens"),
                likely=(request.get("output_options") or {}).get("logprobs"),
            )
            for at, token in enumerate(completion.tokens):
                if context.is_stopped():
                    return
                yield {"index": index, "token_ids": [token], **_logprobs(completion, at)}
                await asyncio.sleep(PAUSE_S)
            yield {"index": index, "token_ids": [], "finish_reason": completion.finish_reason}


def _logprobs(completion: Completion, at: int) -> dict[str, Any]:
    if not completion.probable:
        return {}
    token = completion.probable[at]
    others = [
        {"rank": rank, "token_id": other["id"], "token": other["token"], "logprob": other["logprob"]}
        for rank, other in enumerate(token["top_logprobs"], 1)
    ]
    return {"log_probs": [token["logprob"]], "top_logprobs": [others]}


async def work(options: argparse.Namespace) -> None:
    runtime = DistributedRuntime(asyncio.get_running_loop(), DISCOVERY, REQUESTS)
    endpoint = runtime.endpoint("lab.worker.generate")
    config = ModelRuntimeConfig()
    config.tool_call_parser = options.tool_call_parser
    config.reasoning_parser = options.reasoning_parser
    await register_model(
        ModelInput.Tokens,
        ModelType.Chat | ModelType.Completions,
        endpoint,
        options.model,
        options.alias,
        worker_type=WorkerType.Aggregated,
        runtime_config=config,
    )
    worker = Worker(LlamaCpp(options.behind, os.environ[options.key_env]))
    await endpoint.serve_endpoint(worker.generate)


def run_worker(options: argparse.Namespace) -> None:
    asyncio.run(work(options))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="a folder with tokenizer and chat template")
    parser.add_argument("--alias", required=True, help="the model's name in the API")
    parser.add_argument("--port", required=True)
    parser.add_argument("--behind", required=True, help="llama.cpp's origin")
    parser.add_argument("--key-env", required=True, help="name of the variable that holds llama.cpp's key")
    parser.add_argument("--tool-call-parser", required=True)
    parser.add_argument("--reasoning-parser", required=True)
    options = parser.parse_args()
    multiprocessing.get_context("spawn").Process(target=run_worker, args=(options,), daemon=True).start()
    planes = ["--discovery-backend", DISCOVERY, "--request-plane", REQUESTS]
    address = ["--http-host", "127.0.0.1", "--http-port", options.port]
    sys.argv = ["frontend", "--enable-anthropic-api", *address, *planes]
    frontend()


if __name__ == "__main__":
    main()
