// IoU and pose error along an episode as a picture; a click on it says where, as a part of its length.
function makeTrace(clicked) {
  const svg = $("trace"), place = (part) => 10 + 580 * part, height = (part) => 84 - 78 * part;
  const make = (name, attributes) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  };
  const dash = { x1: 10, x2: 590, y1: height(0.9), y2: height(0.9), stroke: "#8a94a3", "stroke-dasharray": "5 4" };
  const mark = make("line", { y1: 4, y2: 87, stroke: "#1d2530" });
  let last = 0;
  const along = (t) => place(last ? t / last : 0.5);
  const line = (values, stroke) => make("polyline", {
    fill: "none", "stroke-width": 2, stroke,
    points: values.map((v, t) => `${along(t).toFixed(1)},${height(v).toFixed(1)}`).join(" "),
  });
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    clicked(((event.clientX - box.left) / box.width * 600 - 10) / 580);
  });
  return {
    draw(episode) {
      last = episode.iou.length - 1;
      const errors = line(episode.error.map((v) => v / 180), "#b4531a");
      svg.replaceChildren(make("line", dash), errors, line(episode.iou, "#1f5fa8"), mark);
    },
    mark(t) {
      mark.setAttribute("x1", along(t));
      mark.setAttribute("x2", along(t));
    },
  };
}
