# NVIDIA's GPUs through CUDA, where its compiler is; its runtime is linked
# statically and finds the driver when it is first used.
find_program(QUORATE_NVCC nvcc PATHS /usr/local/cuda/bin)
if(QUORATE_NVCC)
  get_filename_component(cuda ${QUORATE_NVCC} REALPATH)
  get_filename_component(cuda ${cuda}/../.. ABSOLUTE)
  find_path(QUORATE_CUDA_HEADERS cuda_runtime_api.h
            PATHS ${cuda}/include ${cuda}/targets/x86_64-linux/include)
  find_library(QUORATE_CUDART libcudart_static.a
               PATHS ${cuda}/lib64 ${cuda}/targets/x86_64-linux/lib)
endif()

# No part of fast math: these decide bits (docs/numerics.md, section 10). The
# test of the PTX takes the same.
set(QUORATE_NVCC_FLAGS -std=c++20 -O3 -fmad=false -ftz=false -prec-div=true
                       -prec-sqrt=true -I${PROJECT_SOURCE_DIR}
    CACHE INTERNAL "Flags of nvcc")
# A GPU runs what was made for its generation or a lesser one within it; others
# compile the PTX of the last when they first run it. One is enough to build and
# test; packages name them all: 75 80 86 89 90 100 120.
set(QUORATE_CUDA_ARCHITECTURES 75 CACHE STRING
    "Compute capabilities that the kernels are compiled for")

set(QUORATE_HAS_CUDA OFF CACHE INTERNAL "The worker computes with CUDA")
if(QUORATE_NVCC AND QUORATE_CUDA_HEADERS AND QUORATE_CUDART)
  set(QUORATE_HAS_CUDA ON CACHE INTERNAL "The worker computes with CUDA")
  set(targets)
  foreach(number IN LISTS QUORATE_CUDA_ARCHITECTURES)
    list(APPEND targets -gencode arch=compute_${number},code=sm_${number})
    set(newest ${number})
  endforeach()
  list(APPEND targets -gencode arch=compute_${newest},code=compute_${newest})
  set(object ${CMAKE_CURRENT_BINARY_DIR}/cuda_kernels.o)
  file(GLOB device ${CMAKE_CURRENT_SOURCE_DIR}/gpu/device/*.h)
  # The host compiler is nvcc's own choice: it makes a few stubs.
  add_custom_command(OUTPUT ${object}
    COMMAND ${QUORATE_NVCC} ${QUORATE_NVCC_FLAGS} ${targets} -Xcompiler -fPIC
            -c ${CMAKE_CURRENT_SOURCE_DIR}/cuda/kernels.cu -o ${object}
    DEPENDS cuda/kernels.cu gpu/gpu_kernels.h primitives.h elementary-inl.h
            ${device}
    COMMENT "Compiling the kernels for CUDA" VERBATIM)
  string(REGEX REPLACE "([0-9])(;|$)" ".\\1 " shown
         "${QUORATE_CUDA_ARCHITECTURES}")
  message(STATUS "CUDA for compute capabilities ${shown}and, by PTX, newer")
  target_sources(quorate_kernels PRIVATE cuda/cuda_backend.cpp
                 cuda/cuda_device.cpp ${object})
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON
                              GENERATED ON)
  target_include_directories(quorate_kernels SYSTEM PRIVATE
                             ${QUORATE_CUDA_HEADERS})
  target_link_libraries(quorate_kernels PRIVATE ${QUORATE_CUDART}
                        Threads::Threads ${CMAKE_DL_LIBS} rt)
else()
  message(STATUS "no nvcc with its static runtime: built without CUDA")
  target_sources(quorate_kernels PRIVATE cuda/no_cuda.cpp)
endif()
