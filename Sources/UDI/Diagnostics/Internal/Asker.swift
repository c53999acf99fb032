/// The object that looks something up with a verb or a property, for diagnosis.
@usableFromInline
struct Asker {
  @usableFromInline let object: AnyObject
  @usableFromInline let site: CallSite

  @inlinable
  init(_ object: AnyObject, _ site: CallSite) {
    self.object = object
    self.site = site
  }
}
