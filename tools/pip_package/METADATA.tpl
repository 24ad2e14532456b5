Metadata-Version: 2.4
Name: {DISTRIBUTION}
Version: {VERSION}
Summary: Custom TensorFlow ops, and the way to write, ship and use your own
Description-Content-Type: text/markdown
Keywords: tensorflow,custom-op,kernel,bazel
License-Expression: Apache-2.0
License-File: LICENSE
Classifier: Development Status :: 3 - Alpha
Classifier: Intended Audience :: Developers
Classifier: Intended Audience :: Science/Research
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C++
Classifier: Programming Language :: Python :: 3
Classifier: Programming Language :: Python :: 3 :: Only
Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence
Classifier: Typing :: Typed
Requires-Python: >=3.10
Provides-Extra: tensorflow
Requires-Dist: tensorflow=={TENSORFLOW}.*; extra == "tensorflow"
Provides-Extra: cpu
Requires-Dist: tensorflow-cpu=={TENSORFLOW}.*; extra == "cpu"
Provides-Extra: cuda
Requires-Dist: tensorflow[and-cuda]=={TENSORFLOW}.*; extra == "cuda"
