"""SMG, SGLang's model gateway, and a worker with tokens from llama.cpp. Runs in the lab's environment.

Over gRPC the gateway does all that a client sees: the chat template, the tokens of a text and back, tool
calls and reasoning, the answers of each wire. A worker only makes tokens of tokens; this one speaks as
SGLang's scheduler does and asks llama.cpp for them, so no GPU is needed.
"""

# ruff: noqa: ARG002, N802 -- the names and arguments are gRPC's

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
from collections.abc import AsyncIterator
from typing import Any

import grpc  # type: ignore[import-untyped]
from completion import PAUSE_S, LlamaCpp  # type: ignore[import-not-found]
from smg.launch_router import launch_router, parse_router_args  # type: ignore[import-not-found]
from smg_grpc_proto import sglang_scheduler_pb2 as messages  # type: ignore[import-not-found]
from smg_grpc_proto import sglang_scheduler_pb2_grpc as service

CONTEXT = 32768


class Worker(service.SglangSchedulerServicer):  # type: ignore[misc]
    """Goes on from a prompt of tokens."""

    def __init__(self, engine: LlamaCpp, model: str, alias: str) -> None:
        self._engine, self._model, self._alias = engine, model, alias

    async def Generate(self, request: Any, context: Any) -> AsyncIterator[Any]:
        params = request.sampling_params
        prompt = list(request.tokenized.input_ids)
        for index in range(params.n or 1):
            completion = await self._engine.complete(
                prompt,
                temperature=params.temperature,
                most=params.max_new_tokens if params.HasField("max_new_tokens") else None,
                likely=request.top_logprobs_num if request.return_logprob else None,
            )
            counts = {"prompt_tokens": len(prompt), "index": index}
            for at, token in enumerate(completion.tokens if request.stream else ()):
                chunk = messages.GenerateStreamChunk(
                    token_ids=[token],
                    completion_tokens=at + 1,
                    output_logprobs=_logprobs(completion.probable[at : at + 1]),
                    **counts,
                )
                yield messages.GenerateResponse(request_id=request.request_id, chunk=chunk)
                await asyncio.sleep(PAUSE_S)
            complete = messages.GenerateComplete(
                output_ids=completion.tokens,
                completion_tokens=len(completion.tokens),
                finish_reason=completion.finish_reason,
                output_logprobs=_logprobs(completion.probable),
                **counts,
            )
            yield messages.GenerateResponse(request_id=request.request_id, complete=complete)

    async def HealthCheck(self, request: Any, context: Any) -> Any:
        return messages.HealthCheckResponse(healthy=True)

    async def Abort(self, request: Any, context: Any) -> Any:
        return messages.AbortResponse(success=True)

    async def GetModelInfo(self, request: Any, context: Any) -> Any:
        return messages.GetModelInfoResponse(
            model_path=self._model,
            tokenizer_path=self._model,
            is_generation=True,
            served_model_name=self._alias,
            max_context_length=CONTEXT,
            max_req_input_len=CONTEXT,
            model_type="qwen2",
        )

    async def GetServerInfo(self, request: Any, context: Any) -> Any:
        return messages.GetServerInfoResponse(server_type="grpc", max_total_num_tokens=CONTEXT)

    async def GetLoads(self, request: Any, context: Any) -> Any:
        return messages.GetLoadsResponse(dp_rank_count=1, loads=[messages.SchedulerLoad()])


def _logprobs(probable: tuple[dict[str, Any], ...]) -> Any:
    if not probable:
        return None
    return messages.OutputLogProbs(
        token_logprobs=[token["logprob"] for token in probable],
        token_ids=[token["id"] for token in probable],
        top_logprobs=[
            messages.TopLogProbs(
                values=[other["logprob"] for other in token["top_logprobs"]],
                token_ids=[other["id"] for other in token["top_logprobs"]],
            )
            for token in probable
        ],
    )


async def work(options: argparse.Namespace) -> None:
    server = grpc.aio.server()
    engine = LlamaCpp(options.behind, os.environ[options.key_env])
    worker = Worker(engine, options.model, options.alias)
    service.add_SglangSchedulerServicer_to_server(worker, server)
    server.add_insecure_port(f"127.0.0.1:{options.worker_port}")
    await server.start()
    await server.wait_for_termination()


def run_worker(options: argparse.Namespace) -> None:
    asyncio.run(work(options))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="a folder with tokenizer and chat template")
    parser.add_argument("--alias", required=True, help="the model's name in the API")
    parser.add_argument("--behind", required=True, help="llama.cpp's origin")
    parser.add_argument("--key-env", required=True, help="name of the variable that holds llama.cpp's key")
    parser.add_argument("--worker-port", type=int, required=True)
    options, gateway = parser.parse_known_args()
    multiprocessing.get_context("spawn").Process(target=run_worker, args=(options,), daemon=True).start()
    worker = f"grpc://127.0.0.1:{options.worker_port}"
    launch_router(parse_router_args([*gateway, "--worker-urls", worker, "--model-path", options.model]))


if __name__ == "__main__":
    main()
