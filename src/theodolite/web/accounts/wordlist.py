"""Short words that are easy to read aloud, to type and to tell apart; 256, so that one holds 8 bits."""

from __future__ import annotations

_TEXT = """
acorn album alder alpine amber anchor angle apple apron arch arrow atlas autumn badge baker bamboo
banjo barley barn basil basin basket beacon beaver bell bench berry birch bishop blanket blossom
boat bottle branch bread breeze brick bridge brook broom brush bucket buckle butter button cabin
cactus camel canal candle canoe canvas carbon cargo carpet carrot castle cedar cello chalk cherry
chess chimney cinema circle citrus clay cliff clock cloud clover cobalt comet copper coral cotton
cradle crane crater cricket crystal curtain cypress daisy dancer desert diary dolphin donkey drawer
drum dune eagle easel echo elbow ember engine fabric falcon feather fence fern ferry fiddle field
finch flag flame flannel flint flute forest fossil fountain fox garden garlic geyser ginger glacier
globe glove goose granite grape gravel guitar hammer harbor harp hazel heron hill honey hornet
island ivory jacket jasmine jigsaw juniper kayak kettle kiosk kite kiwi ladder lagoon lamp lantern
larch laurel lemon lentil lilac linen lizard lobster locket lotus magnet mango maple marble market
meadow melon meteor mill mirror mitten monsoon mosaic moss muffin nectar needle nickel nutmeg oak
oasis oboe ocean olive onion orbit orchid otter owl oyster paddle palace palm panda paper parade
parrot pebble pencil pepper piano picnic pigeon pillow pine planet plum pocket pollen pond poplar
poppy prairie pretzel prism pulley puzzle quartz quiver rabbit radish rain raven ribbon river robin
rocket rope saddle saffron sail salmon satin saxophone scarf seal shell shore silver sparrow spruce
squash stone summer swan tulip tunnel umbrella valley velvet violin walnut willow wren yacht
"""

WORDS = tuple(_TEXT.split())
