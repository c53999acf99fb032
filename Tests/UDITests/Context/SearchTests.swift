import Foundation
import Testing
import UDI

@Suite struct SearchTests {
  static let names: [UDISearch: String] = [
    .lineage: "lineage", .descendants: "descendants", .local: "local", .ancestors: "ancestors",
  ]

  @Test(arguments: UDISearch.allCases)
  func itIsStoredByName(_ search: UDISearch) throws {
    let name = try #require(Self.names[search])
    #expect(search.rawValue == name && UDISearch(rawValue: name) == search)
    let json = try JSONEncoder().encode([search])
    #expect(String(decoding: json, as: UTF8.self) == "[\"\(name)\"]")
    #expect(try JSONDecoder().decode([UDISearch].self, from: json) == [search])
  }

  @Test(arguments: ["\"sideways\"", "0", "\"Lineage\""])
  func whatIsNoSearchIsNotDecoded(_ json: String) {
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(UDISearch.self, from: Data(json.utf8)) }
  }
}
