/// Attaching an object, which fills its properties with the wrapper `Required`.
extension UDIObject {
  /// The context that the object is attached to; nil if there is none, or if the context is gone.
  ///
  /// Setting a context has four steps, even if the context is the same as before. First, the bindings that the object
  /// has made with `bind` are withdrawn. Second, the context is stored. Third, the dependencies that the object
  /// requires are looked up (see ``Required``). Fourth, ``didAttachContext()`` is called. Bindings that the object has
  /// made with `multiBind` stay until the new context is closed or goes. Setting nil detaches the object: all bindings
  /// that it has made are withdrawn, and ``didAttachContext()`` is not called. From then on, the object's verbs use
  /// ``AppContext``.
  ///
  /// - Complexity: O(bindings that are withdrawn), and the lookups of the dependencies that the object requires.
  public var attachedContext: UDIContext? {
    get { _attachedContext.context }
    set { setContext(newValue, at: nil) }
  }

  /// Attaches the object to a context and returns it: `window.screen = Screen().attached(to: context)`.
  ///
  /// Keep the returned object, for example in a stored property. A context does not hold objects, so an object that
  /// nothing else holds is released at once. A local constant is sure to hold it only until the constant's last use. To
  /// attach an object that something holds already, set ``attachedContext``.
  ///
  /// - Parameters:
  ///   - context: The context to attach to. ``attachedContext`` describes the steps.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: The object.
  public func attached(to context: UDIContext, fileID: StaticString = #fileID, line: UInt = #line) -> Self {
    setContext(context, at: UDICallSite(fileID, line))
    return self
  }

  /// Attaches the object to the context that another object uses, and returns it: `Row().attached(to: self)`.
  ///
  /// Use this method in objects that make others. The context is the one that the other object is attached to, or
  /// ``AppContext`` if it is attached to none. If the other object's context is gone, this object stays as it is, and
  /// the mistake is reported.
  ///
  /// - Parameters:
  ///   - object: The object that is attached already.
  ///   - fileID: The caller's file, for diagnosis.
  ///   - line: The caller's line, for diagnosis.
  /// - Returns: This object.
  public func attached(to object: some UDIObject, fileID: StaticString = #fileID, line: UInt = #line) -> Self {
    let site = UDICallSite(fileID, line)
    let context = object._attachedContext.effectiveContext("attached(to:)", object, "the \(type(of: self))", at: site)
    if let context { setContext(context, at: site) }
    return self
  }

  private func setContext(_ context: UDIContext?, at site: UDICallSite?) {
    let attachment = _attachedContext
    guard attachment === _attachedContext else {
      let name = describeType(type(of: self))
      fatalError("\(name) returns another attachment each time. Store one: `let _attachedContext = UDIAttachment()`")
    }
    attachment.remember(owner: self)
    Tree.change { attachment.attach(self, to: context, at: site, &$0) }
    if context == nil {
      return PropertyLink.needs(of: self).forEach { PropertyLink.of(self, $0).forget(before: attachment.stamp) }
    }
    // If a factory has attached the object elsewhere, the hook has been called for that.
    if Node.fillRequired(self, attachment, at: site) { didAttachContext() }
  }
}
