/// An object whose verb or property looks something up, and the place of this use in the source. Used for messages.
@usableFromInline
struct Asker {
  @usableFromInline let object: AnyObject
  @usableFromInline let site: UDICallSite

  @inlinable
  init(_ object: AnyObject, _ site: UDICallSite) {
    self.object = object
    self.site = site
  }
}
