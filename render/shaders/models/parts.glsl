// Parts and materials of a model (sim/models/model_asset.py).
const int MAX_NODES = 64;
const int MAX_MATERIALS = 32;

// finishes
const int PLAIN = 0, LIVERY = 1, DIAL = 2, GLASS = 3, FLAME = 4, COAT = 5;
