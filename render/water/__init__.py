"""River, lake and sea, what moves on them, what flies from them, and the glass tank.

`waters` is the door: the water of a world, at rest or with waves.
"""
