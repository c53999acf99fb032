import UDI

/// The heap objects that can be reached from given objects, and the references between them.
final class ReferenceGraph {
  typealias Edge = (target: Int, steps: String)

  /// A heap object: an object of a class, the captures of a closure, a captured variable, and the like.
  struct Node {
    /// The object's name in traces; nil for an object that traces do not name, because users do not know of it.
    let name: String?
    var edges: [Edge] = []
    /// Keeps the object alive as long as the graph exists; nil if the heap object is not an object of a class.
    fileprivate let object: AnyObject?
    fileprivate let address: UInt
  }

  private(set) var nodes: [Node] = []
  private var indices: [UInt: Int] = [:]

  /// The stored properties of the types that have been scanned.
  private var fields: [ObjectIdentifier: [TypeLayout.Field]] = [:]
  /// Facts about each class that the search has met.
  private var classes: [ObjectIdentifier: ClassFacts] = [:]

  private struct ClassFacts {
    let name: String
    /// Whether the class belongs to the library.
    let isOfLibrary: Bool
    /// Whether the class belongs to the library and its objects hold something of the user: closures, or what a
    /// property with a wrapper keeps. The search looks into such objects. Apart from contexts, attachments and value
    /// boxes, it looks into no other objects of the library, because references between these are none of the user's
    /// concern.
    let isHolder: Bool
    /// Whether the objects of the class are the library's boxes for values that contexts own.
    let isValueBox: Bool
    /// The type of the collections, if the objects of the class are the memory of collections; otherwise nil. Such a
    /// collection consists of one reference to its memory.
    let collection: Any.Type?

    init(_ type: AnyClass) {
      let fullName = _typeName(type)
      name = "\(type)"
      isOfLibrary = fullName.hasPrefix("UDI.")
      let holders = ["Factory", "AsyncFactory", "Special", "Closer", "PropertyLink"]
      isHolder = isOfLibrary && (holders.contains(name) || name.hasPrefix("ActorOwned<"))
      isValueBox = isOfLibrary && name.hasPrefix("ValueBox<")
      collection = Self.collection(type, fullName)
    }

    private static func collection(_ type: AnyClass, _ fullName: String) -> Any.Type? {
      let names = ["_ContiguousArrayStorage", "_SetStorage", "_DictionaryStorage"]
      guard let index = names.firstIndex(where: { fullName.hasPrefix("Swift.\($0)<") }),
        let arguments = unsafe TypeLayout(type).genericArguments
      else { return nil }
      func array<Element>(_: Element.Type) -> Any.Type { [Element].self }
      func set<Element: Hashable>(_: Element.Type) -> Any.Type { Set<Element>.self }
      func dictionary<Key: Hashable>(_: Key.Type) -> Any.Type {
        func dictionary<Value>(_: Value.Type) -> Any.Type { [Key: Value].self }
        return unsafe _openExistential(arguments[1], do: dictionary)
      }
      if index == 0 { return unsafe _openExistential(arguments[0], do: array) }
      guard let key = unsafe arguments[0] as? any Hashable.Type else { return nil }
      return index == 1 ? _openExistential(key, do: set) : _openExistential(key, do: dictionary)
    }
  }

  private func facts(about object: AnyObject) -> ClassFacts {
    let type: AnyClass = type(of: object)
    let id = ObjectIdentifier(type)
    if let known = classes[id] { return known }
    let facts = ClassFacts(type)
    classes[id] = facts
    return facts
  }

  /// The search ends after this many objects.
  private static var limit: Int { 200_000 }

  /// - Parameter roots: The objects from which the search begins.
  init(_ roots: [AnyObject]) {
    for root in roots { _ = index(of: root) }
    var next = 0
    while next < nodes.count, nodes.count < Self.limit {
      nodes[next].edges = edges(of: nodes[next])
      next += 1
    }
  }

  /// The index of the given object's node, or nil if there is none.
  func existingIndex(of object: AnyObject) -> Int? { indices[UInt(bitPattern: ObjectIdentifier(object))] }

  // MARK: - Nodes

  private func index(of object: AnyObject) -> Int {
    let address = UInt(bitPattern: ObjectIdentifier(object))
    if let index = indices[address] { return index }
    return add(Node(name: name(of: object), object: object, address: address))
  }

  private func index(of reference: ReferenceScan.Reference) -> Int {
    if let index = indices[reference.target] { return index }
    let pointer = unsafe UnsafeRawPointer(bitPattern: reference.target)!
    if unsafe reference.isObject || HeapKind(of: pointer) == .object {
      return index(of: unsafe Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue())
    }
    return add(Node(name: nil, object: nil, address: reference.target))
  }

  private func add(_ node: Node) -> Int {
    nodes.append(node)
    indices[node.address] = nodes.count - 1
    return nodes.count - 1
  }

  private func name(of object: AnyObject) -> String? {
    if let context = object as? UDIContext { return "UDIContext \"\(context)\"" }
    let facts = facts(about: object)
    return facts.isOfLibrary || facts.collection != nil ? nil : facts.name
  }

  // MARK: - Edges

  private func edges(of node: Node) -> [Edge] {
    var scan = ReferenceScan(fields(of:))
    let pointer = unsafe UnsafeRawPointer(bitPattern: node.address)!
    if let object = node.object {
      let (type, facts): (AnyClass, ClassFacts) = (type(of: object), facts(about: object))
      if let context = object as? UDIContext {
        return edges(of: context)
      } else if let attachment = object as? UDIAttachment {
        return attachment.heldContext.map { [(index(of: $0), "")] } ?? []
      } else if facts.isValueBox {
        // The box's only property means nothing to users, but the properties of the value do.
        unsafe scan.scanFields(pointer, TypeLayout(type))
        return scan.references.map { (index(of: $0), String($0.steps.dropFirst(".value".count))) }
      } else if facts.isOfLibrary {
        scan.isSilent = true
        if facts.isHolder { unsafe scan.scanFields(pointer, TypeLayout(type)) }
      } else if let collection = facts.collection {
        unsafe withUnsafePointer(to: pointer) { unsafe scan.scan($0, as: collection) }
      } else {
        if let buffer = type as? any ScannedBuffer.Type { buffer.scanHeader(of: object, &scan) }
        unsafe scan.scanFields(pointer, TypeLayout(type))
      }
    } else {
      unsafe self.scan(pointer, &scan)
    }
    return scan.references.map { (index(of: $0), $0.steps) }
  }

  private func fields(of layout: TypeLayout) -> [TypeLayout.Field] {
    let id = ObjectIdentifier(layout.type)
    if let known = fields[id] { return known }
    let found = layout.strongFields
    fields[id] = found
    return found
  }

  /// The edges to the children of a context, to its providers, and to the instances and closers that the providers
  /// keep.
  private func edges(of context: UDIContext) -> [Edge] {
    let contents = context.change { node, garbage in
      node.contents(&garbage).map { (entry: $0.entry, held: $0.owned + $0.holders, storages: $0.storages) }
    }
    return context.children.map { (index(of: $0), "") }
      + contents.flatMap { entry, held, storages in
        let steps = " {provider of \(entry.key), registered at \(entry.site)}"
        // A storage's `load` is user code, so it is called after the lock has been released.
        let all = held + storages.compactMap { $0.load()?.object }
        return all.map { (index(of: $0), steps) }
      }
  }

  /// Scans a heap object that is not an object of a class.
  private func scan(_ pointer: UnsafeRawPointer, _ scan: inout ReferenceScan) {
    switch unsafe HeapKind(of: pointer) {
    case .captures:
      scan.isOfClosure = true
      for (capture, offset) in unsafe ClosureContext(address: pointer).captures ?? [] {
        let address = unsafe pointer + offset
        switch capture {
        case .value(let type): unsafe scan.scan(address, as: type)
        case .reference: unsafe scan.addReference(at: address)
        case .function: unsafe scan.addFunction(at: address)
        case .notHeld: break
        }
      }
    case .box:
      let metadata = unsafe pointer.load(as: UnsafeRawPointer.self)
      let offset = unsafe Int(metadata.load(fromByteOffset: 8, as: UInt32.self))
      unsafe scan.scan(pointer + offset, as: metadata.load(fromByteOffset: 16, as: Any.Type.self))
    case .error: unsafe scan.scan(copy: unsafeBitCast(pointer, to: (any Error).self))
    case .object, nil: break
    }
  }
}

/// A class whose objects have a header in addition to their stored properties.
private protocol ScannedBuffer: AnyObject {
  static func scanHeader(of buffer: AnyObject, _ scan: inout ReferenceScan)
}

extension ManagedBuffer: ScannedBuffer where Element: ~Copyable {
  fileprivate static func scanHeader(of buffer: AnyObject, _ scan: inout ReferenceScan) {
    guard let buffer = buffer as? ManagedBuffer<Header, Element> else { return }
    unsafe buffer.withUnsafeMutablePointerToHeader { header in
      scan.step(".header") { unsafe $0.scan(header, as: Header.self) }
    }
  }
}
