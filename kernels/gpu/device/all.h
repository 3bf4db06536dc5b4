// Every kernel, for the compiler of a device.
#include "kernels/gpu/device/columns.h"
#include "kernels/gpu/device/elementwise.h"
#include "kernels/gpu/device/products.h"
#include "kernels/gpu/device/softmax.h"
#include "kernels/gpu/device/sums.h"
#include "kernels/gpu/device/tables.h"
#include "kernels/gpu/device/windows.h"
