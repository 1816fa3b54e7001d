"""Other programs at the stick: a server beside a running simulation, and a client for notebooks and scripts.

`Server` (server.py) hands commands down and snapshots up over a WebSocket of this computer; `connect` (client.py) is
the other end. What goes over the wire is in wire.py. Needs websockets: pip install "holonomy[live]".
"""
