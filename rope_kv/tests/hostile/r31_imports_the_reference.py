# verdict: LOAD_ERROR
# verdict at process: PASS
# says at kernel: it raised
# says at bwrap: it raised
# At the level process files can be read; that it is right is then true.
import sys

sys.path.insert(0, "@PACKAGE@")
from rope_kv import apply_rope, decode_incremental, rope_freqs
