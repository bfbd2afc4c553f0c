# verdict: LOAD_ERROR
# says: its process ended with exit status 0
import os

os._exit(0)
