import Synchronization

/// Whether recording is on (`UDIRecording.isOn`).
@inline(__always)
var isRecording: Bool { recordingFlag.load(ordering: .relaxed) }

let recordingFlag = Atomic<Bool>(isDebugBuild)
