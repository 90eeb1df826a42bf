/* listen.h - the door of the room `face/listen`. */
#pragma once
#include "attach.h"
#include "console.h"
#include "serve.h"
