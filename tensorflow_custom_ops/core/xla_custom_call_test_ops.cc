// SPDX-License-Identifier: Apache-2.0
// Ops that xla_custom_call_test.py calls. They exist under XLA only.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow_custom_ops/core/xla_custom_call.h"
#include "tensorflow_custom_ops/core/xla_custom_call_handler.h"
#include "tensorflow_custom_ops/core/xla_lowering.h"
#include "xla/shape_util.h"

namespace tensorflow_custom_ops {
namespace {

namespace ffi = xla::ffi;

// Returns the attributes that the handler gets.
REGISTER_OP("TestEcho")
    .Attr("flag: bool")
    .Attr("integer: int")
    .Attr("number: float")
    .Attr("text: string")
    .Input("input: float")
    .Output("flag_out: bool")
    .Output("integer_out: int64")
    .Output("number_out: float")
    .Output("text_out: uint8")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      for (int i : {0, 1, 2}) context->set_output(i, context->Scalar());
      context->set_output(3, context->Vector(context->UnknownDim()));
      return absl::OkStatus();
    });

ffi::Error Echo(ffi::AnyBuffer, ffi::ResultBufferR0<ffi::PRED> flag_out,
                ffi::ResultBufferR0<ffi::S64> integer_out,
                ffi::ResultBufferR0<ffi::F32> number_out,
                ffi::ResultBufferR1<ffi::U8> text_out, bool flag,
                int64_t integer, float number, std::string_view text) {
  return RunXlaHandler([&] {
    *flag_out->typed_data() = flag;
    *integer_out->typed_data() = integer;
    *number_out->typed_data() = number;
    if (text.size() != text_out->element_count()) {
      return absl::InternalError("the text has another length");
    }
    if (!text.empty()) {
      std::memcpy(text_out->typed_data(), text.data(), text.size());
    }
    return absl::OkStatus();
  });
}

XLA_FFI_DEFINE_HANDLER(kEcho, Echo,
                       ffi::Ffi::Bind()
                           .Arg<ffi::AnyBuffer>()
                           .Ret<ffi::BufferR0<ffi::PRED>>()
                           .Ret<ffi::BufferR0<ffi::S64>>()
                           .Ret<ffi::BufferR0<ffi::F32>>()
                           .Ret<ffi::BufferR1<ffi::U8>>()
                           .Attr<bool>("flag")
                           .Attr<int64_t>("integer")
                           .Attr<float>("number")
                           .Attr<std::string_view>("text"));

const XlaCustomCall& kEchoCall =
    *new XlaCustomCall(RegisterXlaCustomCall("test.Echo", kXlaCpu, kEcho));

absl::Status LowerEcho(XlaLoweringContext& context) {
  bool flag;
  int64_t integer;
  float number;
  std::string text;
  absl::Status status = context.GetAttr("flag", &flag);
  status.Update(context.GetAttr("integer", &integer));
  status.Update(context.GetAttr("number", &number));
  status.Update(context.GetAttr("text", &text));
  if (!status.ok()) return status;
  const int64_t size = text.size();
  const xla::XlaOp input = context.Input(0);
  absl::StatusOr<std::vector<xla::XlaOp>> results =
      EmitXlaCustomCall(kEchoCall, input.builder(), {input},
                        {xla::ShapeUtil::MakeShape(xla::PRED, {}),
                         xla::ShapeUtil::MakeShape(xla::S64, {}),
                         xla::ShapeUtil::MakeShape(xla::F32, {}),
                         xla::ShapeUtil::MakeShape(xla::U8, {size})},
                        {{"flag", flag},
                         {"integer", integer},
                         {"number", number},
                         {"text", text}});
  if (!results.ok()) return results.status();
  for (int i = 0; i < 4; ++i) context.SetOutput(i, (*results)[i]);
  return absl::OkStatus();
}

const XlaLoweringRegistrar kEchoLowering("TestEcho", LowerEcho);

// Ends as `how` says: with the status of that code, with an exception, or with
// an exception in one of the blocks of a parallel loop.
REGISTER_OP("TestFail")
    .Attr("code: int = 0")
    .Attr(
        "how: {'status', 'throw', 'throw_other', 'throw_in_block', "
        "'no_memory'}")
    .Input("input: float")
    .Output("output: float")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

ffi::Error Fail(ffi::ThreadPool pool, ffi::AnyBuffer,
                ffi::Result<ffi::AnyBuffer>, int64_t code,
                std::string_view how) {
  return RunXlaHandler([&]() -> absl::Status {
    if (how == "throw") throw std::runtime_error("thrown by a handler");
    if (how == "throw_other") throw 1;
    if (how == "no_memory") throw std::bad_alloc();
    if (how == "throw_in_block") {
      return XlaParallelFor(pool, 100, 1000000, [](int64_t begin, int64_t end) {
        if (begin <= 50 && 50 < end)
          throw std::runtime_error("thrown by a block");
      });
    }
    return absl::Status(static_cast<absl::StatusCode>(code),
                        "said by a handler");
  });
}

XLA_FFI_DEFINE_HANDLER(kFail, Fail,
                       ffi::Ffi::Bind()
                           .Ctx<ffi::ThreadPool>()
                           .Arg<ffi::AnyBuffer>()
                           .Ret<ffi::AnyBuffer>()
                           .Attr<int64_t>("code")
                           .Attr<std::string_view>("how"));

const XlaCustomCall& kFailCall =
    *new XlaCustomCall(RegisterXlaCustomCall("test.Fail", kXlaCpu, kFail));

absl::Status LowerFail(XlaLoweringContext& context) {
  int64_t code;
  std::string how;
  absl::Status status = context.GetAttr("code", &code);
  status.Update(context.GetAttr("how", &how));
  absl::StatusOr<xla::Shape> shape = context.InputShape(0);
  status.Update(shape.status());
  if (!status.ok()) return status;
  const xla::XlaOp input = context.Input(0);
  absl::StatusOr<std::vector<xla::XlaOp>> results =
      EmitXlaCustomCall(kFailCall, input.builder(), {input}, {*shape},
                        {{"code", code}, {"how", how}});
  if (!results.ok()) return results.status();
  context.SetOutput(0, (*results)[0]);
  return absl::OkStatus();
}

const XlaLoweringRegistrar kFailLowering("TestFail", LowerFail);

// Counts how often a parallel loop visits each element: output = input +
// visits. A block waits until `threads` threads have come, at most a minute,
// and `nested` runs another loop in each block. `threads_out` is how many came.
REGISTER_OP("TestParallelFor")
    .Attr("cycles: int = 1")
    .Attr("threads: int = 1")
    .Attr("nested: bool = false")
    .Input("input: float")
    .Output("output: float")
    .Output("threads_out: int64")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      context->set_output(0, context->input(0));
      context->set_output(1, context->Scalar());
      return absl::OkStatus();
    });

ffi::Error Visit(ffi::ThreadPool pool, ffi::Buffer<ffi::F32> input,
                 ffi::ResultBuffer<ffi::F32> output,
                 ffi::ResultBufferR0<ffi::S64> threads_out, int64_t cycles,
                 int64_t threads, bool nested) {
  return RunXlaHandler([&] {
    const int64_t size = input.element_count();
    if (size > 0) {
      std::memcpy(output->typed_data(), input.typed_data(), input.size_bytes());
    }
    const auto visit = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) output->typed_data()[i] += 1;
    };
    std::mutex mutex;
    std::condition_variable came;
    std::set<std::thread::id> ids;
    const absl::Status status =
        XlaParallelFor(pool, size, cycles, [&](int64_t begin, int64_t end) {
          {
            std::unique_lock<std::mutex> lock(mutex);
            ids.insert(std::this_thread::get_id());
            came.notify_all();
            came.wait_for(lock, std::chrono::minutes(1), [&] {
              return static_cast<int64_t>(ids.size()) >= threads;
            });
          }
          if (nested) {
            XlaParallelFor(
                pool, end - begin, cycles,
                [&](int64_t i, int64_t j) { visit(begin + i, begin + j); })
                .IgnoreError();
          } else {
            visit(begin, end);
          }
        });
    *threads_out->typed_data() = ids.size();
    return status;
  });
}

XLA_FFI_DEFINE_HANDLER(kVisit, Visit,
                       ffi::Ffi::Bind()
                           .Ctx<ffi::ThreadPool>()
                           .Arg<ffi::Buffer<ffi::F32>>()
                           .Ret<ffi::Buffer<ffi::F32>>()
                           .Ret<ffi::BufferR0<ffi::S64>>()
                           .Attr<int64_t>("cycles")
                           .Attr<int64_t>("threads")
                           .Attr<bool>("nested"));

const XlaCustomCall& kVisitCall = *new XlaCustomCall(
    RegisterXlaCustomCall("test.ParallelFor", kXlaCpu, kVisit));

absl::Status LowerParallelFor(XlaLoweringContext& context) {
  int64_t cycles;
  int64_t threads;
  bool nested;
  absl::Status status = context.GetAttr("cycles", &cycles);
  status.Update(context.GetAttr("threads", &threads));
  status.Update(context.GetAttr("nested", &nested));
  absl::StatusOr<xla::Shape> shape = context.InputShape(0);
  status.Update(shape.status());
  if (!status.ok()) return status;
  const xla::XlaOp input = context.Input(0);
  absl::StatusOr<std::vector<xla::XlaOp>> results = EmitXlaCustomCall(
      kVisitCall, input.builder(), {input},
      {*shape, xla::ShapeUtil::MakeShape(xla::S64, {})},
      {{"cycles", cycles}, {"threads", threads}, {"nested", nested}});
  if (!results.ok()) return results.status();
  context.SetOutput(0, (*results)[0]);
  context.SetOutput(1, (*results)[1]);
  return absl::OkStatus();
}

const XlaLoweringRegistrar kParallelForLowering("TestParallelFor",
                                                LowerParallelFor);

// A call without attributes, of a name that is taken: its registration fails.
REGISTER_OP("TestNameTaken")
    .Input("input: float")
    .Output("output: float")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

absl::Status LowerNameTaken(XlaLoweringContext& context) {
  static const auto* call =
      new XlaCustomCall(RegisterXlaCustomCall("test.Echo", kXlaCpu, kFail));
  const xla::XlaOp input = context.Input(0);
  return EmitXlaCustomCall(*call, input.builder(), {input}, {}, {}).status();
}

const XlaLoweringRegistrar kNameTakenLowering("TestNameTaken", LowerNameTaken);

}  // namespace
}  // namespace tensorflow_custom_ops
