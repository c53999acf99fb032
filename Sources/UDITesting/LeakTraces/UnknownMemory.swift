#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Memory of unknown layout inside an object. The layout is unknown because the runtime does not tell the types of
/// stored properties that cannot be copied, such as a `Mutex`.
///
/// In such memory, a word counts as a reference only if it is certainly the address of a heap object. To find out, the
/// memory at the address is read through the operating system, which returns an error for a bad address instead of
/// stopping the program. The memory there must contain the beginning of a heap object, that is, the address of
/// metadata; the metadata must refer to a description in the program's constants; and the reference count must be that
/// of an object that is alive.
enum UnknownMemory {
  /// The kind of heap object at the given address; nil if there is none.
  static func heapKind(at address: UInt) -> HeapKind? {
    guard address.isMultiple(of: 8), let metadata = read(address), metadata.isMultiple(of: 8),
      let kind = read(metadata).flatMap({ HeapKind($0) })
    else { return nil }
    switch kind {
    case .captures:
      guard isConstant(metadata), let description = read(metadata + 16), isConstant(description) else { return nil }
    case .object:
      guard let description = read(metadata + UInt(TypeLayout.classDescriptor)), isConstant(description),
        let flags = read(description), flags & 0x1F == TypeLayout.classFlag
      else { return nil }
    case .box:
      guard let type = read(metadata + 16), read(type) != nil else { return nil }
    case .error: guard isConstant(metadata) else { return nil }
    }
    return isAlive(address) ? kind : nil
  }

  /// Whether the heap object at the given address is alive, according to its reference count.
  ///
  /// A word can contain the address of an object that has been released: an enum may leave old bits in the words that
  /// its present case does not use. Some allocators, such as that of the thread sanitizer, do not change the memory of
  /// such an object. If the scan retained the object, and the object's memory were then reused, the scan would later
  /// release whatever object is there by then.
  private static func isAlive(_ address: UInt) -> Bool {
    // The layout of reference counts: stdlib/public/SwiftShims/swift/shims/RefCount.h in the Swift repository.
    let (isDeiniting, usesSlowCount, isImmortal): (UInt, UInt, UInt) = (1 << 32, 1 << 63, 0xFFFF_FFFF)
    guard let count = read(address + 8) else { return false }
    if count & usesSlowCount == 0 { return count & isDeiniting == 0 }
    if count & isImmortal == isImmortal { return true }
    // The count is in a side table, which begins with the address of the object.
    let sideTable = (count & (1 << 62 - 1)) << 3
    guard read(sideTable) == address, let count = read(sideTable + 16) else { return false }
    return count & isDeiniting == 0
  }

  /// Whether there are `unowned` references to the given object. Such a reference looks like a strong one.
  static func isUnowned(_ address: UInt) -> Bool {
    let object = unsafe Unmanaged<AnyObject>.fromOpaque(UnsafeRawPointer(bitPattern: address)!).takeUnretainedValue()
    // The count is 1 if there are no such references, because the object itself counts as one.
    return _getUnownedRetainCount(object) > 1
  }

  /// Whether the given address belongs to the constants or the code of the program or a library.
  private static func isConstant(_ address: UInt) -> Bool {
    var info = unsafe Dl_info()
    return unsafe dladdr(UnsafeRawPointer(bitPattern: address), &info) != 0
  }

  /// Reads the word at the given address; nil if there is no memory.
  private static func read(_ address: UInt) -> UInt? {
    guard address >= 4096, address < 1 << 56, address.isMultiple(of: 4) else { return nil }
    var word: UInt = 0
    let size = MemoryLayout<UInt>.size
    #if canImport(Darwin)
      var count: vm_size_t = 0
      let result = unsafe withUnsafeMutablePointer(to: &word) {
        unsafe vm_read_overwrite(
          mach_task_self_, vm_address_t(address), vm_size_t(size), vm_address_t(UInt(bitPattern: $0)), &count)
      }
      return result == KERN_SUCCESS && count == size ? word : nil
    #else
      let count = unsafe withUnsafeMutablePointer(to: &word) { word in
        var target = unsafe iovec(iov_base: word, iov_len: size)
        var source = unsafe iovec(iov_base: UnsafeMutableRawPointer(bitPattern: address), iov_len: size)
        return unsafe process_vm_readv(getpid(), &target, 1, &source, 1, 0)
      }
      return count == size ? word : nil
    #endif
  }
}

/// The number of bytes that were allocated at the given address; nil if it is not known.
///
/// - Parameter address: The address of an object that is alive.
func allocatedSize(_ address: UnsafeRawPointer) -> Int? {
  // If the reference counts say that the object is never freed, it may be part of the program's data.
  let counts = unsafe address.load(fromByteOffset: 8, as: UInt.self)
  if UInt32(truncatingIfNeeded: counts) == .max { return nil }
  #if canImport(Darwin)
    let size = unsafe malloc_size(address)
    return size == 0 ? nil : size
  #else
    return unsafe usableSize?(UnsafeMutableRawPointer(mutating: address))
  #endif
}

#if !canImport(Darwin)
  /// The C library's `malloc_usable_size`, if the library has it.
  private let usableSize = unsafe dlsym(nil, "malloc_usable_size").map {
    unsafe unsafeBitCast($0, to: (@convention(c) (UnsafeMutableRawPointer?) -> Int).self)
  }
#endif

/// The kind of a heap object, which follows from the first word of its metadata.
enum HeapKind: UInt {
  /// An object of a class.
  case object = 0
  /// The captures of a closure, or a captured variable.
  case captures = 0x400
  /// A captured variable whose type was not known at compile time.
  case box = 0x500
  case error = 0x501

  /// - Parameter word: The first word of the metadata. For an object of a class, it may also be an address.
  init?(_ word: UInt) { self.init(rawValue: word < 0x800 ? word : HeapKind.object.rawValue) }

  /// - Parameter object: A heap object that is alive.
  init?(of object: UnsafeRawPointer) { self.init(unsafe object.load(as: UnsafeRawPointer.self).load(as: UInt.self)) }
}
