/* face.h - the door of the room `face`: how the hub is reached from outside. */
#pragma once
#include "attach.h"
#include "caller.h"
#include "console.h"
#include "control.h"
#include "host.h"
#include "near.h"
#include "rest.h"
#include "serve.h"
#include "tokens.h"
