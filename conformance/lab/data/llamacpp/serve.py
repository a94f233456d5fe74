"""llama.cpp's own HTTP server, out of the xllamacpp wheel, on loopback. Runs in the lab's environment."""

from __future__ import annotations

import argparse
import os
import signal

import xllamacpp


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="a GGUF file")
    parser.add_argument("--alias", required=True, help="the model's name in the API")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--key-env", help="name of the environment variable that holds the API key")
    parser.add_argument("--ctx", type=int, default=32768, help="tokens per request")
    parser.add_argument("--parallel", type=int, default=4, help="requests served at once")
    options = parser.parse_args()

    # Blocked before the server starts its threads, so that they don't take the signals sigwait waits for.
    stop = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, stop)
    params = xllamacpp.CommonParams()
    params.model.path = options.model
    # Wheels of 2025 take one alias and listen on one name.
    params.model_alias = {options.alias} if isinstance(params.model_alias, set) else options.alias
    if hasattr(params, "hostnames"):
        params.hostnames = ["127.0.0.1"]
    else:
        params.hostname = "127.0.0.1"
    params.port = options.port
    params.n_ctx = options.ctx * options.parallel  # llama.cpp divides the context among its slots
    params.n_parallel = options.parallel
    # The model is tiny: a second thread only waits for the first, on a busy machine for a second a request.
    params.cpuparams.n_threads = 1
    params.use_jinja = True
    if options.key_env:
        params.api_keys = [os.environ[options.key_env]]
    server = xllamacpp.Server(params)
    print(f"listening {server.listening_address}", flush=True)
    signal.sigwait(stop)
    os._exit(0)  # the server has no graceful end; its destructor waits for open connections


if __name__ == "__main__":
    main()
