// Tables of any length: only the rows (and columns) in sight are in the page.

// A list of rows of one height. `draw(index)` makes a row; a row that holds the focus stays although it is out of sight.
export class Rows {
  constructor(box, { height, head, draw }) {
    Object.assign(this, { box, height, drawRow: draw, count: 0, shown: new Map() });
    this.sizer = document.createElement("div");
    this.sizer.className = "sizer";
    this.sizer.setAttribute("role", "rowgroup");
    const top = document.createElement("div");
    top.setAttribute("role", "rowgroup");
    top.className = "head";
    if (head) { head.classList.add("row"); head.style.position = "relative"; head.style.height = "2rem"; top.append(head); }
    box.replaceChildren(top, this.sizer);
    box.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(box);
  }

  fill(count) {
    this.count = count;
    this.box.setAttribute("aria-rowcount", count + 1);
    this.sizer.style.height = Math.min(count * this.height, 12e6) + "px";
    for (const row of this.shown.values()) row.remove();
    this.shown.clear();
    this.draw();
  }

  // Browsers end at some millions of pixels: beyond, the bar's way stands for a longer one.
  draw() {
    const { box, height, count } = this, view = box.clientHeight, full = count * height;
    const room = Math.min(full, 12e6), way = full > view ? box.scrollTop * (full - view) / Math.max(1, room - view) : 0;
    const first = Math.max(0, Math.floor(way / height) - 4), last = Math.min(count, Math.ceil((way + view) / height) + 4);
    for (const [index, row] of this.shown) {
      if ((index < first || index >= last) && !row.contains(document.activeElement)) { row.remove(); this.shown.delete(index); }
    }
    for (let index = first; index < last; index++) {
      let row = this.shown.get(index);
      if (!row) {
        row = this.drawRow(index);
        row.classList.add("row");
        row.setAttribute("role", "row");
        row.setAttribute("aria-rowindex", index + 2);
        row.style.height = height + "px";
        this.shown.set(index, row);
        const next = [...this.shown.keys()].filter((other) => other > index).sort((a, b) => a - b)[0];
        this.sizer.insertBefore(row, next === undefined ? null : this.shown.get(next));  // the order of reading and of Tab
      }
      row.style.top = (full > room ? box.scrollTop + index * height - way : index * height) + "px";
    }
  }
}

// A table of any length and width, of which `fetchPart(row, column)` gives blocks of 100 rows and 50 columns.
const TALL = 32, WIDE = 150, BLOCK_ROWS = 100, BLOCK_COLUMNS = 50;

export class Cells {
  constructor(box, fetchPart) {
    Object.assign(this, { box, fetchPart, blocks: new Map() });
    box.classList.add("grid", "cells");
    box.tabIndex = 0;
    box.setAttribute("role", "table");
    this.first = -1;
    const head = document.createElement("div");
    head.setAttribute("role", "row");
    this.head = head;
    this.rows = new Rows(box, { height: TALL, head, draw: (index) => this.row(index) });
    box.addEventListener("scroll", () => this.columnsInSight() && this.redraw(), { passive: true });
    new ResizeObserver(() => this.columnsInSight() && this.redraw()).observe(box);
    this.size = null;
    this.part(0, 0);
  }

  part(row, column) {
    const key = `${row} ${column}`;
    if (!this.blocks.has(key)) {
      this.blocks.set(key, null);
      this.fetchPart(row, column, BLOCK_ROWS, BLOCK_COLUMNS).then((part) => {
        this.blocks.set(key, part);
        if (!this.size) {
          this.size = part;
          this.box.setAttribute("aria-colcount", part.n_columns);
          this.rows.sizer.style.width = part.n_columns * WIDE + "px";
          this.head.style.width = part.n_columns * WIDE + "px";
          this.columnsInSight();
          this.rows.fill(part.n_rows);
        }
        this.redraw();
      }, () => this.blocks.delete(key));
    }
    return this.blocks.get(key);
  }

  columnsInSight() {
    const first = Math.max(0, Math.floor(this.box.scrollLeft / WIDE) - 1);
    const last = Math.min(this.size ? this.size.n_columns : 0, Math.ceil((this.box.scrollLeft + this.box.clientWidth) / WIDE) + 1);
    const isNew = first !== this.first || last !== this.last;
    Object.assign(this, { first, last });
    return isNew;
  }

  redraw() {
    this.fillRow(this.head, "columnheader", (column) => this.block(0, column)?.columns[column % BLOCK_COLUMNS]);
    for (const [index, row] of this.rows.shown) this.fillCells(row, index);
  }

  row(index) {
    const row = document.createElement("div");
    this.fillCells(row, index);
    return row;
  }

  block(row, column) {
    return this.part(row - row % BLOCK_ROWS, column - column % BLOCK_COLUMNS);
  }

  fillCells(row, index) {
    this.fillRow(row, "cell", (column) => this.block(index, column)?.rows[index % BLOCK_ROWS]?.[column % BLOCK_COLUMNS]);
  }

  fillRow(row, role, text) {
    const cells = [];
    for (let column = this.first; column < this.last; column++) {
      const cell = document.createElement("div"), says = text(column);
      cell.className = "cell";
      cell.setAttribute("role", role);
      cell.setAttribute("aria-colindex", column + 1);
      cell.style.left = column * WIDE + "px";
      cell.textContent = says === undefined ? "…" : short(says);
      cell.title = says ?? "";
      cells.push(cell);
    }
    row.replaceChildren(...cells);
  }
}

// A number of many digits as people read it; its title has them all.
const short = (text) => (text.length > 8 && /^-?\d*\.\d+(e[-+]?\d+)?$/i.test(text) ? String(Number(Number(text).toPrecision(4))) : text);
