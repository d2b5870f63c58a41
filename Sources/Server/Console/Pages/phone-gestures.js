// What a finger, a mouse or a pen does: a swipe, a long press, or a tap. Buttons do the same for the keyboard.

const SWIPE_LENGTH = 44;
const HOLD_TIME = 550;
const gestures = new WeakMap();

function endGesture(element) {
  const gesture = gestures.get(element);
  if (!gesture) return null;
  clearTimeout(gesture.timer);
  gestures.delete(element);
  element.style.removeProperty('--drag-x');
  element.style.removeProperty('--drag-y');
  element.classList.remove('is-dragged');
  return gesture;
}

/** Whether the click that follows belongs to a swipe or a long press. */
export function wasGesture(element) {
  const holder = element.closest('[data-gesture]');
  return Boolean(holder?.phoneGestureEnd) && performance.now() - holder.phoneGestureEnd < 350;
}

/**
 * Handlers for an element that takes `left`, `right`, `up`, `down` or `hold`. It follows the finger by the custom properties `--drag-x` and
 * `--drag-y` in the directions it takes.
 */
export function takeGestures(actions) {
  const takesX = actions.left || actions.right;
  const takesY = actions.up || actions.down;
  return {
    pointerdown(event) {
      if (event.button !== 0 || event.target.closest('input, textarea')) return;
      const element = event.currentTarget;
      endGesture(element);
      const gesture = { x: event.clientX, y: event.clientY, pointer: event.pointerId, isMoved: false };
      if (actions.hold) {
        gesture.timer = setTimeout(() => {
          endGesture(element);
          element.phoneGestureEnd = performance.now();
          actions.hold();
        }, HOLD_TIME);
      }
      gestures.set(element, gesture);
    },
    pointermove(event) {
      const element = event.currentTarget;
      const gesture = gestures.get(element);
      if (!gesture || gesture.pointer !== event.pointerId) return;
      const x = event.clientX - gesture.x;
      const y = event.clientY - gesture.y;
      if (Math.hypot(x, y) < 8 && !gesture.isMoved) return;
      clearTimeout(gesture.timer);
      if (!gesture.isMoved) {
        gesture.isMoved = true;
        gesture.isAcross = Math.abs(x) > Math.abs(y);
        if (gesture.isAcross ? takesX : takesY) {
          element.setPointerCapture(event.pointerId);
          element.classList.add('is-dragged');
        }
      }
      const isWanted = gesture.isAcross ? (x < 0 ? actions.left : actions.right) : (y < 0 ? actions.up : actions.down);
      if (isWanted) element.style.setProperty(gesture.isAcross ? '--drag-x' : '--drag-y', `${gesture.isAcross ? x : y}px`);
    },
    pointerup(event) {
      const element = event.currentTarget;
      const gesture = endGesture(element);
      if (!gesture?.isMoved) return;
      const x = event.clientX - gesture.x;
      const y = event.clientY - gesture.y;
      const length = gesture.isAcross ? x : y;
      if (Math.abs(length) < SWIPE_LENGTH) return;
      const action = gesture.isAcross ? (x < 0 ? actions.left : actions.right) : (y < 0 ? actions.up : actions.down);
      if (!action) return;
      element.phoneGestureEnd = performance.now();
      action();
    },
    pointercancel(event) { endGesture(event.currentTarget); },
    contextmenu(event) {
      if (!actions.hold) return;
      event.preventDefault();
      const wasHeld = wasGesture(event.currentTarget);
      endGesture(event.currentTarget);
      if (!wasHeld) actions.hold();
    },
  };
}
