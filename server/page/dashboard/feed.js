// Brings the project's status: by the server's event stream, and by asking when
// the stream brings nothing.

// The server says something at least every five seconds, its busiest.
const kSilentMillis = 12000;
const kPollMillis = 3000;
const kReopenMillis = 30000;

// run: its name, or '' for what the server chooses. on: {status(status),
// time(millis), lost()}; lost() may be called again and again. Returns
// {show(run)}: changes the run.
export function openFeed(run, on) {
  let stream = null;
  let heard = -Infinity;

  const query = () => run ? `?run=${encodeURIComponent(run)}` : '';

  function received(handle, data) {
    heard = performance.now();
    handle(data);
  }

  // The browser reopens a broken stream by itself, but not a refused one (too
  // many were open).
  function openStream() {
    const isOpen = stream && stream.readyState !== EventSource.CLOSED;
    if (isOpen || document.hidden) return;
    stream = new EventSource(`/v1/events${query()}`);
    stream.addEventListener(
        'status', (event) => received(on.status, JSON.parse(event.data)));
    stream.addEventListener(
        'time', (event) => received(on.time, JSON.parse(event.data).time));
    stream.addEventListener('error', () => {
      heard = -Infinity;
      poll();
    });
  }

  function closeStream() {
    stream?.close();
    stream = null;
  }

  const isTold = () => stream?.readyState === EventSource.OPEN &&
      performance.now() - heard < kSilentMillis;

  async function poll() {
    if (document.hidden || isTold()) return;
    const asked = run;
    let status;
    try {
      const signal = AbortSignal.timeout(kPollMillis);
      const answer = await fetch(`/v1/status${query()}`, {signal});
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      status = await answer.json();
    } catch {
      if (!isTold()) on.lost();
      return;
    }
    if (asked === run) received(on.status, status);
  }

  function restart() {
    closeStream();
    heard = -Infinity;
    openStream();
    poll();
  }

  // A page that nobody sees costs the server nothing.
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) {
      closeStream();
    } else {
      restart();
    }
  });
  setInterval(poll, kPollMillis);
  setInterval(openStream, kReopenMillis);
  restart();
  return {
    show(name) {
      if (name === run) return;
      run = name;
      restart();
    },
  };
}
