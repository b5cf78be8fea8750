// The replay of an episode; `open` shows the one at a row of the list.
const open = (() => {
  if (!data.replays) return () => {};
  const { tasks, turns, actions, episodes } = data.replays, rows = data.episodes.rows;
  const field = (index, key) => rows[index][data.episodes.columns.findIndex((column) => column.key === key)];
  const replayed = episodes.flatMap((episode, index) => (episode ? [index] : []));
  const methods = [...new Set(replayed.map((index) => field(index, "policy")))];
  let chosen, episode, poses, frames, replies, solid, at, wanted = 0, playing = false, timer;
  const last = () => episode.iou.length - 1;
  const action = (t) => (t < episode.actions.length ? actions[episode.actions[t]] : `– (${field(chosen, "outcome")})`);
  const floats = (numbers) => numbers.map(f32);

  function put(id, grey) {
    const picture = new ImageData(SIZE, SIZE), pixels = new Uint32Array(picture.data.buffer);
    for (let k = 0; k < pixels.length; k++) pixels[k] = 0xff000000 | (grey[k] * 0x010101);
    $(id).getContext("2d").putImageData(picture, 0, 0);
  }

  // Draw the frame that is asked for; one that is asked for meanwhile takes its place.
  async function paint() {
    const mine = ++wanted, t = at, panel = $("panel"), task = field(chosen, "task");
    try {
      if (!frames.has(t)) {
        panel.setAttribute("aria-busy", "true");
        $("drawing").textContent = "drawing …";
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        if (mine !== wanted) return;
        if (solid?.task !== task) {
          const made = makeSolid(tasks[task]);
          solid = { task, made, target: made.then((each) => draw(each, floats(turns[turns.length - 1])).mask) };
        }
      }
      const [made, target] = await Promise.all([solid.made, solid.target]);
      if (mine !== wanted) return;
      if (!frames.has(t)) frames.set(t, draw(made, poses[t]));
      put("target", target);
      put("view", frames.get(t).view);
      put("current", frames.get(t).mask);
      $("drawing").textContent = "";
      panel.removeAttribute("aria-busy");
    } catch (error) {
      $("drawing").textContent = `This browser cannot draw it: ${error.message}`;
    }
  }

  function show() {
    $("at").textContent = `${at} of ${last()}`;
    $("action").textContent = action(at);
    $("iou").textContent = episode.iou[at].toFixed(3);
    $("error").textContent = `${episode.error[at].toFixed(1)}°`;
    $("step").value = at;
    $("reply").textContent = replies[at] ?? "";
    $("reply").hidden = !replies[at];
    trace.mark(at);
    return paint();
  }

  function go(t) {
    at = Math.max(0, Math.min(last(), t));
    return show();
  }
  function pause() {
    playing = false;
    clearTimeout(timer);
    $("play").textContent = "▶ play";
  }
  function step(by) {
    pause();
    go(at + by);
  }
  async function advance(t) {
    await go(t);
    if (playing && at < last()) timer = setTimeout(() => advance(at + 1), 600);
    else pause();
  }
  function play() {
    if (playing) return pause();
    playing = true;
    $("play").textContent = "❚❚ pause";
    advance(at === last() ? 0 : at + 1);
  }

  async function choose(index) {
    pause();
    [chosen, episode, at, frames, replies] = [index, episodes[index], 0, new Map(), []];
    poses = [floats(tasks[field(index, "task")].start)];
    while (poses.length <= last()) poses.push(turned(floats(turns[episode.actions[poses.length - 1]]), poses.at(-1)));
    $("step").max = last();
    list(field(index, "policy"));
    $("which").value = index;
    trace.draw(episode);
    show();
    if (!episode.replies) return;
    const texts = JSON.parse(new TextDecoder().decode(await unpack(episode.replies)));
    if (chosen === index) {
      replies = texts;
      show();
    }
  }

  function list(method) {
    if ($("which").dataset.method === method) return;
    $("which").dataset.method = $("method").value = method;
    $("which").replaceChildren(...replayed.filter((index) => field(index, "policy") === method).map((index) => {
      const seed = field(index, "seed") ? `, seed ${field(index, "seed")}` : "";
      return new Option(`${field(index, "task")}${seed}: ${field(index, "outcome")}`, index);
    }));
  }

  for (const method of methods) $("method").add(new Option(method, method));
  $("method").addEventListener("change", () => {
    // The same task and seed, where the method played it.
    const mine = replayed.filter((index) => field(index, "policy") === $("method").value);
    const same = (index) => ["task", "seed"].every((key) => field(index, key) === field(chosen, key));
    choose(mine.find(same) ?? mine[0]);
  });
  $("which").addEventListener("change", () => choose(Number($("which").value)));
  $("step").addEventListener("input", () => step(Number($("step").value) - at));
  $("back").addEventListener("click", () => step(-1));
  $("next").addEventListener("click", () => step(1));
  $("play").addEventListener("click", play);
  const trace = makeTrace((part) => step(Math.round(part * last()) - at));
  document.addEventListener("keydown", (event) => {
    // Fields, lists and buttons keep their own keys.
    if (event.target.closest("input, select, button, .scroll, #reply") || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = { ArrowLeft: () => step(-1), ArrowRight: () => step(1), " ": play }[event.key];
    if (act) { event.preventDefault(); act(); }
  });
  choose(replayed[0]);
  return (index) => { choose(index); $("replay").scrollIntoView(); };
})();
