"""`armdyn studio`: an arm and its dynamics in the browser."""

from typing import Annotated

import typer

from armdyn.cli.options import RobotSource, takes_robot


@takes_robot
def studio(
    robot: RobotSource = RobotSource("puma560"),
    *,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port to listen on; 0: any that is free.")
    ] = 8080,
    host: Annotated[
        str, typer.Option(help="The address to listen on; others can then open the page too.")
    ] = "127.0.0.1",
    dark: Annotated[bool, typer.Option("--dark", help="Begin dark.")] = False,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Whether to open the page.")
    ] = True,
) -> None:
    """Open the studio: an arm, its torques and its equations in the browser.

    It ends with Ctrl-C. Nothing is sent anywhere, and nothing written but in temporary folders.
    """
    import signal
    import tempfile
    import threading
    import webbrowser

    from armdyn.cli.console import console
    from armdyn.io.folders import kept_in
    from armdyn.studio.server import LOOPBACK, Studio

    with (
        tempfile.TemporaryDirectory(prefix="armdyn-studio-", ignore_cleanup_errors=True) as kept,
        kept_in(kept),  # uploaded robots leave nothing in the user's cache
    ):
        running = Studio(robot.source, robot.read, host=host, port=port, dark=dark)
        screen = console()
        screen.print(f"the studio is at {running.address} (Ctrl-C ends it)", soft_wrap=True)
        if host not in (LOOPBACK, "localhost", "::1"):
            screen.print(f"note: it listens on {host}, so others can open it too", soft_wrap=True)
        if browser:
            webbrowser.open(running.address)
        ended = threading.Event()
        signal.signal(signal.SIGTERM, lambda *_: ended.set())
        try:
            ended.wait()
        except KeyboardInterrupt:
            screen.print("ended")
        finally:
            running.stop()
