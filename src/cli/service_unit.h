/* service_unit.h - packaging/patchbay.service.in, put into the program by the build. */
#pragma once

/* "@bindir@/patchbay" stands for the program. */
extern const char service_unit[];
