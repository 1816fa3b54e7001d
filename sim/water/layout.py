"""The numbers that water remembers and tells, and what the weather tells it, by their places in its arrays."""

from sim.water.immersion import FOUND

# what the water remembers and tells, by number; the first four as the ground's report has them
CLOCK = 4  # [s] since the sea began
SINCE = 5  # [s] when it was last told to change
FROM = 6  # the sea (4,) from which it changes
TOWARDS = 10  # the sea (4,) to which
LEVEL = 14  # height of the surface under the origin over the mean [m]
STREAM = 15  # velocity of the water there, world
AIR = 18  # velocity of the air, world x, y
INSIDE = 20  # what `immersion` finds
REPORT = INSIDE + FOUND  # then the report of the ground, where there is any

# what the weather and the vehicle tell, by number
WIND, GUSTS, CURRENT, SPACING, REACH, MEAN = 0, 2, 3, 5, 6, 7
ABOUT = 8
