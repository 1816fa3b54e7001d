"""The light helicopter: 9.3 m body, 10.7 m three-blade rotor.

The origin is the centre of mass; the soles of the skids are at z = -1.4 m.
"""
