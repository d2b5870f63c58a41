#if TIDINGS_UIKIT
    package import VirtualPhone

    /// A virtual phone and the client of the app on it: their clocks move together.
    @MainActor package protocol PhoneBench: AnyObject {
        /// The client's, so that a slow machine costs nobody background time.
        var clock: ForwardingClock { get }
        var phone: VirtualPhone { get }
    }

    extension PhoneBench {
        /// Moves both clocks, in steps short enough for phone and client to see what the other does.
        ///
        /// - Parameter milliseconds: how far; 0 lets the app work only.
        package func advance(by milliseconds: Int64) async {
            var left = milliseconds
            repeat {
                let step = min(left, 1_000)
                self.clock.advance(by: step)
                await self.phone.advance(by: .milliseconds(step))
                left -= step
            } while left > 0
        }

        /// Lets the app work until something holds; what never holds is recorded by the test's own expectation.
        ///
        /// No more than 400 ms pass on phone and client. The app's work is done by threads that a busy machine lets wait, however
        /// often the clocks are moved: they have two minutes of real time.
        package func until(_ holds: (Self) -> Bool) async {
            let end = ContinuousClock.now.advanced(by: .seconds(120))
            var rounds = 0
            while !holds(self), rounds < 400 || ContinuousClock.now < end {
                rounds += 1
                await self.advance(by: rounds <= 400 ? 1 : 0)
                if rounds > 100 { try? await Task.sleep(for: .milliseconds(1)) }
            }
        }

        /// Lets what was said or done arrive and be decided.
        ///
        /// - Parameter milliseconds: so often the clocks move by one.
        package func settle(_ milliseconds: Int = 6) async { for _ in 1...milliseconds { await self.advance(by: 1) } }
    }
#endif
