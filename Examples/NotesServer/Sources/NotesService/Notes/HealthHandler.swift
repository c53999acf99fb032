import Logging
import UDI

/// Handles `/health` for one request.
final class HealthHandler: UDIFinalObject, HealthHandling {
  let _attachedContext = UDIAttachment()
  @Required var work: UnitOfWork
  @Required var logger: Logger
}
