"use strict";
// Files that a click saves, of the report and of the page of `ramify app`.
function saveFile(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob); link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
const saveSvg = (name, text) => saveFile(name, new Blob([text], { type: "image/svg+xml" }));
// On white and twice as large as on the page, so that it can be printed.
async function savePng(name, text) {
  const picture = new Image();
  picture.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  await picture.decode();
  saveCanvas(name, picture, 2 * picture.width, 2 * picture.height);
}
function saveCanvas(name, picture, width, height) {
  const canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
  canvas.width = width; canvas.height = height;
  pen.fillStyle = "#fff"; pen.fillRect(0, 0, width, height);
  pen.drawImage(picture, 0, 0, width, height);
  canvas.toBlob((blob) => saveFile(name, blob));
}
