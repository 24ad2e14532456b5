// SPDX-License-Identifier: Apache-2.0
// How an elementwise op is defined:
//
//   REGISTER_ELEMENTWISE_OP(ScaledSilu)
//       .Input("input")
//       .Attribute("alpha: float = 1.0")
//       .Doc(R"doc(...)doc");
//
// ScaledSilu is the functor, and the name of the op. If the functor can be
// differentiated, the op ScaledSiluGrad is defined too.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_OP_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_OP_H_

#include <string>
#include <vector>

#include "tensorflow_custom_ops/core/elementwise/signature.h"
#include "tensorflow_custom_ops/core/elementwise/signature_of.h"

namespace tensorflow_custom_ops {
namespace elementwise {

// The definition of an op, as far as it is not in its functor.
class OpDefinition {
 public:
  explicit OpDefinition(const Signature& signature) : signature_(signature) {}

  // The name of the next input.
  OpDefinition& Input(std::string name);
  // An attribute that Apply takes, as for REGISTER_OP: of type float, int or
  // bool, with a default.
  OpDefinition& Attribute(std::string spec);
  // Says that the inputs can be exchanged.
  OpDefinition& Commutative();
  // The documentation, as for REGISTER_OP. The output is called "output".
  OpDefinition& Doc(std::string text);

 private:
  friend class OpRegistration;

  Signature signature_;
  std::vector<std::string> inputs_;
  std::vector<std::string> attributes_;
  bool commutative_ = false;
  std::string doc_;
};

class OpRegistration {
 public:
  OpRegistration(const OpDefinition& definition);  // NOLINT: for the macro
};

}  // namespace elementwise
}  // namespace tensorflow_custom_ops

#define REGISTER_ELEMENTWISE_OP(Op)                                 \
  static const ::tensorflow_custom_ops::elementwise::OpRegistration \
      k##Op##Registration =                                         \
          ::tensorflow_custom_ops::elementwise::OpDefinition(       \
              ::tensorflow_custom_ops::elementwise::SignatureOf<Op>(#Op))

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_OP_H_
