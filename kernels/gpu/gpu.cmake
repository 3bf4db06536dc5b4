# What all GPUs share on the host; gpu/device is for their own compilers.
target_sources(quorate_kernels PRIVATE
  gpu/attention.cpp gpu/embedding.cpp gpu/gpu_backend.cpp gpu/gpu_queue.cpp
  gpu/products.cpp gpu/slices.cpp gpu/sums.cpp)
