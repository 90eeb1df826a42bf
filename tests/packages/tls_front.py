#!/usr/bin/env python3
"""tls_front.py CERTIFICATE KEY COMMAND...: starts a server that says "http://127.0.0.1:PORT", and is the TLS
in front of it on another port, which it prints; "{port}" in the command is that one. Ends when its input
does, and the server with it."""
import re
import socket
import ssl
import subprocess
import sys
import threading


def carry(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    try:
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def serve(context, raw, port):
    try:
        client = context.wrap_socket(raw, server_side=True)
    except OSError:  # it does not trust us, say
        return
    server = socket.create_connection(("127.0.0.1", port))
    threading.Thread(target=carry, args=(server, client), daemon=True).start()
    carry(client, server)


def listen(context, listener, port):
    while True:
        raw, _ = listener.accept()
        threading.Thread(target=serve, args=(context, raw, port), daemon=True).start()


def said_port(server):
    for line in server.stdout:
        if found := re.search(r"http://127\.0\.0\.1:(\d+)", line):
            return int(found.group(1))
    return sys.exit(f"the server ended with {server.wait()}")


certificate, key, *command = sys.argv[1:]
listener = socket.create_server(("127.0.0.1", 0))
front = str(listener.getsockname()[1])
behind = subprocess.Popen([word.replace("{port}", front) for word in command], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
threading.Thread(target=listen, args=(context, listener, said_port(behind)), daemon=True).start()
threading.Thread(target=behind.stdout.read, daemon=True).start()
print(front, flush=True)
sys.stdin.read()
behind.terminate()
behind.wait()
