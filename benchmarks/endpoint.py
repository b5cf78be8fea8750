"""The cheapest endpoint: reads a request's bytes, looks at nothing, and gives the same answer at once.

python -m benchmarks.endpoint CORE     prints the port it serves on
"""

import asyncio
import json
import os
import sys

COT = "The silhouette is broader than the target and leans to the left, so a yaw of thirty degrees comes first; " * 2
ANSWER = {"cot": COT, "type": "YAW_POS", "angle": 30}
USAGE = {"prompt_tokens": 9000, "completion_tokens": 80, "prompt_tokens_details": {"cached_tokens": 8000}}
BODY = json.dumps(
    {
        "id": "c",
        "model": "instant",
        "choices": [{"message": {"role": "assistant", "content": json.dumps(ANSWER)}, "finish_reason": "stop"}],
        "usage": USAGE,
    }
).encode()
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY
LENGTH = b"\r\ncontent-length:"


class Endpoint(asyncio.Protocol):
    """Counts a request's bytes."""

    def __init__(self):
        self.head, self.left = b"", 0

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        if not self.left:
            self.head += data
            head, end, body = self.head.partition(b"\r\n\r\n")
            if not end:
                return
            length = head.lower().partition(LENGTH)[2].partition(b"\r\n")[0]
            self.head, self.left, data = b"", int(length), body
        self.left -= len(data)
        if not self.left:
            self.transport.write(RESPONSE)


async def serve():
    server = await asyncio.get_running_loop().create_server(Endpoint, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    # Until the process that started it is gone.
    await asyncio.to_thread(sys.stdin.read)
    server.close()


if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(sys.argv[1])})
    asyncio.run(serve())
