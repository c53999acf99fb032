/// Spreads an integer over the high bits of a word by multiplicative hashing with the golden ratio (Knuth, The Art of
/// Computer Programming, volume 3, section 6.4). Use this only for integers such as addresses and counters, which
/// nobody can choose in order to make them collide.
@inline(__always)
func scrambled<Word: FixedWidthInteger & UnsignedInteger>(_ value: Word) -> Word {
  value &* highBits(0x9E37_79B9_7F4A_7C15)
}

/// Does the same as `scrambled` for an id, and returns a word. An id has 64 bits on every platform; a word may have
/// fewer.
@inline(__always)
func scrambledID<Word: FixedWidthInteger & UnsignedInteger>(_ id: UInt64) -> Word { highBits(scrambled(id)) }

/// The high bits of an integer, as many as fit into a word.
@inline(__always)
private func highBits<Word: FixedWidthInteger & UnsignedInteger>(_ value: UInt64) -> Word {
  Word(truncatingIfNeeded: value >> UInt64(64 - Word.bitWidth))
}
