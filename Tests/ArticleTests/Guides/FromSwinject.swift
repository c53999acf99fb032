import Synchronization
import Testing
import UDI
import UDITesting

// The code in the guide for users of Swinject. Each row of its table has a test of its own: see `.ci/articles`.

struct FromSwinject {
  nonisolated protocol Animal: AnyObject, Sendable {}
  nonisolated protocol Pet: AnyObject, Sendable {}
  nonisolated final class Cat: Animal, Pet {
    let name: String
    private let keeper = Mutex<Person?>(nil)
    init(name: String = "mimi") { self.name = name }
    var owner: Person? {
      get { keeper.withLock { $0 } }
      set { keeper.withLock { $0 = newValue } }
    }
  }
  /// The cat holds its owner, so the owner does not hold the cat.
  nonisolated final class Person: Sendable {
    private let company = Mutex(WeakCat())
    var cat: Cat? {
      get { company.withLock { $0.cat } }
      set { company.withLock { $0.cat = newValue } }
    }
  }
  private nonisolated struct WeakCat {
    weak var cat: Cat?
  }
  struct Pair: Sendable {
    let first: any Animal
    let second: any Animal
  }
  struct Animals: UDIModule { func register(in context: UDIContext) { context.register { Cat() } } }

  let context = UDIContext(tag: "App") { context in context.defaultLifetime = .graph }

  @Test(.ownAppContext) func defaultLifetime() throws {
    AppContext.defaultLifetime = .graph
    AppContext.register((any Animal).self) { Cat() }
    AppContext.register { context in try Pair(first: context.require(), second: context.require()) }
    let pair = try AppContext.require(Pair.self)
    #expect(pair.first === pair.second)
    #expect(try AppContext.require(Pair.self).first !== pair.first)
    #expect(try AppContext.makeScope(tag: "scope").defaultLifetime == .graph)
  }

  @Test func wrapper() {
    final class Vet: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Required var patient: any Animal
    }
    let cat = Cat()
    context.provide(cat, as: (any Animal).self)
    #expect(Vet().attached(to: context).patient === cat)
  }

  @Test func container() {
    let context = UDIContext(tag: "App")
    #expect(context.link((any Animal).self) == nil)
  }

  @Test func register() {
    context.register((any Animal).self) { Cat() }
    #expect(context.link((any Animal).self) is Cat)
  }

  @Test func registerWithAName() {
    context.register((any Animal).self, named: "mimi") { Cat() }
    #expect(context.link((any Animal).self) == nil && context.link((any Animal).self, named: "mimi") is Cat)
  }

  @Test func registerWithAnArgument() {
    context.register((any Animal).self) { (_, name: String) in Cat(name: name) }
    #expect((context.link((any Animal).self, with: "tom") as? Cat)?.name == "tom")
  }

  @Test func resolve() {
    #expect(context.link((any Animal).self) == nil)
    context.register((any Animal).self) { Cat() }
    #expect(context.link((any Animal).self) is Cat)
  }

  @Test func resolveOrFail() throws {
    #expect(throws: UDILinkError.self) { try context.require((any Animal).self) }
    context.register((any Animal).self) { Cat() }
    #expect(try context.require((any Animal).self) is Cat)
  }

  @Test func resolveWithAName() {
    context.register((any Animal).self) { Cat() }
    #expect(context.link((any Animal).self, named: "mimi") == nil)
  }

  @Test func resolveWithAnArgument() {
    context.register((any Animal).self) { (_, name: String?) in Cat(name: name ?? "") }
    #expect((context.link((any Animal).self, with: "mimi") as? Cat)?.name == "mimi", "cast to what the factory wants")
  }

  @Test func containerScope() throws {
    context.register((any Animal).self, lifetime: .context) { Cat() }
    #expect(try context.require((any Animal).self) === context.require((any Animal).self))
  }

  @Test func transient() throws {
    context.register((any Animal).self, lifetime: .unique) { Cat() }
    #expect(try context.require((any Animal).self) !== context.require((any Animal).self))
  }

  @Test func graph() throws {
    context.register((any Animal).self, lifetime: .graph) { Cat() }
    context.register { context in try Pair(first: context.require(), second: context.require()) }
    let pair = try context.require(Pair.self)
    #expect(try pair.first === pair.second && context.require(Pair.self).first !== pair.first)
  }

  @Test func weak() throws {
    context.register((any Animal).self, lifetime: .weak) { Cat() }
    weak let gone = context.link((any Animal).self)
    #expect(gone == nil)
    try withExtendedLifetime(context.require((any Animal).self)) { held in
      #expect(context.link((any Animal).self) === held)
    }
  }

  @Test func initCompleted() throws {
    context.register(lifetime: .graph) {
      Cat()
    }.onCreate { context, cat in
      cat.owner = context.link(Person.self)
    }
    context.register(lifetime: .graph) {
      Person()
    }.onCreate { context, person in
      person.cat = context.link(Cat.self)
    }
    let cat = try context.require(Cat.self)
    #expect(cat.owner?.cat === cat)
    let person = try context.require(Person.self)
    #expect(person !== cat.owner)
  }

  /// The same under the other lifetime that shares.
  @Test func initCompletedForWhatAContextOwns() throws {
    context.register(lifetime: .context) {
      Cat()
    }.onCreate { context, cat in
      cat.owner = context.link(Person.self)
    }
    context.register(lifetime: .context) {
      Person()
    }.onCreate { context, person in
      person.cat = context.link(Cat.self)
    }
    let cat = try context.require(Cat.self)
    #expect(cat.owner?.cat === cat && cat.owner === context.link(Person.self))
  }

  @Test func whatIsKeptIsMadeWhereItIsRegistered() throws {
    context.provide(Cat(name: "tom"), as: (any Animal).self)
    context.register(lifetime: .context) { context in try Pair(first: context.require(), second: context.require()) }
    let child = try context.makeScope(tag: "child")
    child.provide(Cat(name: "mimi"), as: (any Animal).self)
    #expect((try child.require(Pair.self).first as? Cat)?.name == "tom")
  }

  /// What is kept has a graph of its own.
  @Test func whatIsKeptDoesNotShareTheGraph() throws {
    struct House: Sendable {
      let animal: any Animal
      let pair: Pair
    }
    context.register((any Animal).self, lifetime: .graph) { Cat() }
    context.register(lifetime: .context) { context in try Pair(first: context.require(), second: context.require()) }
    context.register { context in try House(animal: context.require(), pair: context.require()) }
    let house = try context.require(House.self)
    #expect(house.pair.first === house.pair.second && house.animal !== house.pair.first)
  }

  @Test func lazy() {
    final class Vet: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Linked var patient: (any Animal)?
    }
    let vet = Vet().attached(to: context)
    context.register((any Animal).self) { Cat() }
    let first = vet.patient
    #expect(first != nil && vet.patient === first)
  }

  @Test func provider() {
    final class Vet: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Linked(keeps: .never) var patient: (any Animal)?
    }
    let vet = Vet().attached(to: context)
    context.register((any Animal).self) { Cat() }
    let first = vet.patient
    #expect(first != nil && vet.patient !== first)
  }

  @Test func implements() throws {
    context.defaultLifetime = .context
    context.register { Cat() }.implements((any Pet).self)
    #expect(try context.require((any Pet).self) === context.require(Cat.self))
  }

  @Test func parentContainer() throws {
    context.register((any Animal).self, lifetime: .context) { Cat() }
    let child = try context.makeScope(tag: "child")
    #expect(child.link((any Animal).self) === context.link((any Animal).self))
    child.provide(Person())
    #expect(context.link(Person.self) == nil)
    try context.makeChild(tag: "seen").provide(Person())
    #expect(context.link(Person.self) != nil, "visible from above")
  }

  @Test func assembly() {
    struct Animals: UDIModule { func register(in context: UDIContext) { context.register { Cat() } } }
    context.install(Animals())
    #expect(context.link(Cat.self) != nil)
  }

  @Test func assembler() {
    context.install(Animals())
    context.install(Animals())
    #expect(context.linkAll(Cat.self).count == 1)
  }

  @Test func resetObjectScope() throws {
    context.register((any Animal).self, lifetime: .context) { Cat() }
    let cat = try context.require((any Animal).self)
    context.reset(.context)
    #expect(try context.require((any Animal).self) !== cat)
  }

  @Test func objectScope() throws {
    let session = UDILifetime("session", storage: .strong)
    context.register(lifetime: session) { Cat() }
    let cat = try context.require(Cat.self)
    context.reset(.context)
    #expect(try context.require(Cat.self) === cat)
    context.reset(session)
    #expect(try context.require(Cat.self) !== cat)
  }
}
