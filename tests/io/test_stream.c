#include "tap.h"
