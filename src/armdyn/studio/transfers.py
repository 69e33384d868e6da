"""Uploads are refused by their announced size, before anything of them is kept."""

from collections.abc import Callable

import viser
from viser import _messages as messages
from viser.infra import ClientId

from armdyn.errors import StudioError
from armdyn.io.regular import MAX_BYTES
from armdyn.studio.gate import incompatible_viser
from armdyn.studio.uploads import too_large


def limit_uploads(client: viser.ClientHandle, refuse: Callable[[BaseException], None]) -> None:
    """Let a window send one file at a time, of the size that it announced and not too large."""
    try:
        gui, socket = client.gui, client._websock_connection
        begin, take = gui._handle_file_transfer_start, gui._handle_file_transfer_part
        started, part = messages.FileTransferStartUpload, messages.FileTransferPart
        forget, told = gui._drop_uploads_from_client, messages.FileTransferPartAck
        socket.unregister_handler(started, begin)
        socket.unregister_handler(part, take)
    except (AttributeError, ValueError, AssertionError) as error:
        raise incompatible_viser(error) from None
    missing: dict[str, int] = {}
    """Bytes that are still to come, by the name of the transfer."""

    def start(client_id: ClientId, message: messages.FileTransferStartUpload) -> None:
        missing.clear()
        forget(client_id)
        size, transfer = message.size_bytes, message.transfer_uuid
        if not 0 <= message.part_count <= size <= MAX_BYTES:
            refuse(StudioError(too_large(message.filename, size)))
            # for the page it has arrived, so that it waits no longer
            socket.queue_message(told(message.source_component_uuid, transfer, size, size))
            return
        missing[transfer] = size
        begin(client_id, message)

    def receive(client_id: ClientId, message: messages.FileTransferPart) -> None:
        rest = missing.get(message.transfer_uuid, 0) - len(message.content)
        if rest < 0 or not message.content:  # more than was announced, or nothing
            missing.pop(message.transfer_uuid, None)
            forget(client_id)
            return
        missing[message.transfer_uuid] = rest
        take(client_id, message)

    socket.register_handler(started, start)
    socket.register_handler(part, receive)
