"""`armdyn studio`: an arm and its dynamics in the browser."""

from armdyn.cli.console import print_line, status
from armdyn.cli.options import RobotSource, flag, option


def studio(
    robot: RobotSource = RobotSource("puma560"),
    *,
    port: int = option(8080, "The port to listen on; 0: any that is free.", min=0, max=65535),
    host: str = option("127.0.0.1", "The address to listen on; others can then open the page too."),
    dark: bool = flag("--dark", "Begin dark."),
    token: bool = option(
        True,
        "Whether the address has a token, so that no one else gets in.",
        None,
        "--token/--no-token",
    ),
    browser: bool = option(True, "Whether to open the page.", None, "--browser/--no-browser"),
) -> None:
    """Open the studio: an arm, its torques and its equations in the browser.

    It ends with Ctrl-C. Nothing is sent anywhere, and nothing written but in temporary folders.
    """
    import signal
    import tempfile
    import threading
    import webbrowser

    from armdyn.io.shelf import kept_in
    from armdyn.studio.server import LOOPBACK, Studio

    with (
        tempfile.TemporaryDirectory(prefix="armdyn-studio-", ignore_cleanup_errors=True) as kept,
        kept_in(kept),  # uploaded robots leave nothing in the user's cache
    ):
        with status(f"loading {robot.source}"):
            running = Studio(robot.source, robot.read, host=host, port=port, dark=dark, token=token)
        print_line(f"the studio is at {running.address} (Ctrl-C ends it)")
        if host not in (LOOPBACK, "localhost", "::1"):
            whom = "those who know its address" if token else "others"
            print_line(f"note: it listens on {host}, so {whom} can open it too")
        if browser:
            webbrowser.open(running.address_once())
        ended = threading.Event()
        signal.signal(signal.SIGTERM, lambda *_: ended.set())
        try:
            ended.wait()
        except KeyboardInterrupt:
            print_line("ended")
        finally:
            running.stop()
