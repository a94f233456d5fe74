"""Turns the errors a person can act on into one line and the documented exit code."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import ParamSpec

import click

P = ParamSpec("P")


def clearly(command: Callable[P, int]) -> Callable[P, None]:
    """Run the command, exit with what it returns; usage and configuration errors exit 2 in a line."""

    @functools.wraps(command)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> None:
        from conformance.config import ConfigError
        from conformance.engine.errors import EngineError
        from conformance.known import KnownError
        from conformance.quirks import QuirkError

        try:
            code = command(*args, **kwargs)
        except (ConfigError, KnownError, QuirkError) as error:
            click.echo(f"error: {error}", err=True)
            code = 2
        except EngineError as error:
            click.echo(f"error: the engine failed, this is a bug of the suite:\n{error}", err=True)
            code = 3
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            code = 130
        except BrokenPipeError:
            sys.stderr.close()
            code = 0
        sys.exit(code)

    return wrapper
