#include "shop/api.h"
