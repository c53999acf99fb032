/// Objects by numbers: a `CompactTable` that is compiled once, whatever the class of the objects.
struct ObjectTable<Object: AnyObject>: ~Copyable {
  private var table = CompactTable<NumberedObject>()

  var isEmpty: Bool { table.isEmpty }
  var count: Int { table.count }
  var values: [Object] { table.map { unsafe unsafeDowncast($0.object, to: Object.self) } }

  // The casts are safe, because only objects of this class are put into the table.
  @inline(__always)
  subscript(number: UInt64) -> Object? {
    get { table.object(number).map { unsafe unsafeDowncast($0, to: Object.self) } }
    set { table.setObject(number, newValue) }
  }

  /// Calls `body` for each object, in no particular order. The table must not change during the call.
  @inline(__always)
  func forEach(_ body: (Object) -> Void) { table.forEach { body(unsafe unsafeDowncast($0.object, to: Object.self)) } }
}

/// An element of an `ObjectTable`.
struct NumberedObject: CompactTableElement {
  let key: UInt64
  let object: AnyObject
  static func hash(_ key: UInt64) -> UInt { scrambledID(key) }
}

extension CompactTable<NumberedObject> {
  @inline(never)
  fileprivate func object(_ number: UInt64) -> AnyObject? { find(number)?.element.object }

  /// Puts an object into the table, or removes the present one.
  @inline(never)
  fileprivate mutating func setObject(_ number: UInt64, _ object: AnyObject?) {
    remove(number)
    if let object { insert(NumberedObject(key: number, object: object)) }
  }
}
