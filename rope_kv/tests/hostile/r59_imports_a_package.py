# verdict: LOAD_ERROR
# says: the standard library and numpy alone
import pytest
