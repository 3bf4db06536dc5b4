# GPUs through OpenCL: its headers alone are needed here. The library is opened
# when a device is asked for. The kernels' text becomes part of the program.
include(${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
find_path(QUORATE_OPENCL_HEADERS CL/cl.h)
if(QUORATE_OPENCL_HEADERS)
  target_sources(quorate_kernels PRIVATE
    opencl/devices.cpp opencl/library.cpp opencl/opencl_backend.cpp
    opencl/opencl_device.cpp opencl/program.cpp opencl/source.cpp)
  target_link_libraries(quorate_kernels PRIVATE ${CMAKE_DL_LIBS})
  set(device ${CMAKE_CURRENT_SOURCE_DIR}/gpu/device)
  quorate_embed(quorate_kernels opencl/source.cpp kernels/opencl/embedded.h
    kPrimitives=${CMAKE_CURRENT_SOURCE_DIR}/primitives.h
    kElementary=${CMAKE_CURRENT_SOURCE_DIR}/elementary-inl.h
    kDivision=${CMAKE_CURRENT_SOURCE_DIR}/division-inl.h
    kLanguage=${device}/language.h
    kArguments=${device}/arguments.h
    kElementwise=${device}/elementwise.h
    kSums=${device}/sums.h
    kSoftmax=${device}/softmax.h
    kColumns=${device}/columns.h
    kWindows=${device}/windows.h
    kTables=${device}/tables.h
    kOperands=${device}/operands.h
    kFetch=${device}/fetch-inl.h
    kTile=${device}/tile-inl.h
    kProducts=${device}/products.h
    kAll=${device}/all.h)
else()
  message(STATUS "no CL/cl.h (opencl-headers): built without OpenCL")
  target_sources(quorate_kernels PRIVATE opencl/no_opencl.cpp)
endif()
