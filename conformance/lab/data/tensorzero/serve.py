"""The gateway inside TensorZero's Python client, on a port of our choice. Runs in the lab's environment."""

from __future__ import annotations

import argparse
import asyncio
from types import SimpleNamespace
from urllib.parse import urlsplit

from tensorzero import patch_openai_client  # type: ignore[import-not-found]

CHUNK = 65536


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(CHUNK):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass  # either side went away; the other is told by the close
    finally:
        writer.close()


async def serve(config: str, port: int) -> None:
    """Hand every byte on, both ways: the gateway takes a port of the system's choice."""
    client = await patch_openai_client(SimpleNamespace(), config_file=config, async_setup=True)
    gateway = urlsplit(str(client.base_url)).port

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", gateway)
        await asyncio.gather(copy(reader, there_writer), copy(there_reader, writer))

    async with await asyncio.start_server(connected, "127.0.0.1", port) as server:
        await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", required=True)
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args()
    asyncio.run(serve(options.config, options.port))


if __name__ == "__main__":
    main()
