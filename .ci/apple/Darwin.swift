// A stand-in for Apple's module Darwin: the C declarations, and what Swift adds to them.

@_exported import CDarwin

public var errno: Int32 {
  get { 0 }
  set {}
}
