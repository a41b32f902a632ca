//! Squarified treemap: divides a rectangle into given areas, each as nearly square as possible.
//!
//! Rows are filled along the shorter side for as long as that makes the worst of their rectangles squarer (Bruls, Huizing and
//! van Wijk, "Squarified Treemaps", 2000). Only additions, multiplications and divisions of floats, in a fixed order: the same
//! on every machine.

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rect {
    /// Distance from the left.
    pub x: f64,
    /// Distance from the top.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

/// Returns a rectangle for each weight, in the order of the weights, which should descend. A weight of zero gets an empty one.
pub fn squarify(weights: &[u64], canvas: Rect) -> Vec<Rect> {
    let sum: f64 = weights.iter().map(|weight| *weight as f64).sum();
    if sum <= 0.0 {
        return vec![Rect { width: 0.0, height: 0.0, ..canvas }; weights.len()];
    }
    let scale = canvas.width * canvas.height / sum;
    let areas: Vec<f64> = weights.iter().map(|weight| *weight as f64 * scale).collect();
    let (mut rects, mut free, mut left) = (Vec::with_capacity(areas.len()), canvas, areas.as_slice());
    while !left.is_empty() {
        let length = row_length(left, free.width.min(free.height));
        let (row, others) = left.split_at(length);
        free = lay(row, free, &mut rects);
        left = others;
    }
    rects
}

/// Returns the number of leading areas that make the squarest row along a side, at least one.
fn row_length(areas: &[f64], side: f64) -> usize {
    let (mut sum, mut least, mut most) = (0.0, f64::INFINITY, 0.0_f64);
    let mut best = f64::INFINITY;
    for (at, area) in areas.iter().enumerate() {
        sum += area;
        least = least.min(*area);
        most = most.max(*area);
        let worst = worst_ratio(sum, least, most, side);
        if at > 0 && worst > best {
            return at;
        }
        best = worst;
    }
    areas.len()
}

/// Returns the ratio of the sides of the worst rectangle of a row.
fn worst_ratio(sum: f64, least: f64, most: f64, side: f64) -> f64 {
    let (side, sum) = (side * side, sum * sum);
    if least <= 0.0 || side <= 0.0 { f64::INFINITY } else { (side * most / sum).max(sum / (side * least)) }
}

/// Lays a row along the shorter side of the free rectangle, and returns the rest of it.
fn lay(row: &[f64], free: Rect, rects: &mut Vec<Rect>) -> Rect {
    let sum: f64 = row.iter().sum();
    let upright = free.width >= free.height;
    let side = if upright { free.height } else { free.width };
    let depth = if side > 0.0 { sum / side } else { 0.0 };
    let mut along = 0.0;
    for area in row {
        let length = if depth > 0.0 { area / depth } else { 0.0 };
        rects.push(if upright {
            Rect { x: free.x, y: free.y + along, width: depth, height: length }
        } else {
            Rect { x: free.x + along, y: free.y, width: length, height: depth }
        });
        along += length;
    }
    if upright {
        Rect { x: free.x + depth, width: (free.width - depth).max(0.0), ..free }
    } else {
        Rect { y: free.y + depth, height: (free.height - depth).max(0.0), ..free }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CANVAS: Rect = Rect { x: 0.0, y: 0.0, width: 600.0, height: 400.0 };

    #[test]
    fn the_example_of_the_paper_comes_out_as_printed_there() {
        let rects = squarify(&[6, 6, 4, 3, 2, 2, 1], Rect { width: 6.0, height: 4.0, ..CANVAS });
        let rounded = |rect: &Rect| [rect.x, rect.y, rect.width, rect.height].map(|at| (at * 100.0).round() / 100.0);
        assert_eq!(
            rects.iter().take(4).map(rounded).collect::<Vec<_>>(),
            [[0.0, 0.0, 3.0, 2.0], [0.0, 2.0, 3.0, 2.0], [3.0, 0.0, 1.71, 2.33], [4.71, 0.0, 1.29, 2.33]]
        );
    }

    #[test]
    fn nothing_takes_no_room() {
        assert!(squarify(&[0, 0], CANVAS).iter().all(|rect| rect.width * rect.height == 0.0));
        assert_eq!(squarify(&[5, 0], CANVAS)[0], CANVAS);
        assert!(squarify(&[], CANVAS).is_empty());
    }

    proptest::proptest! {
        #[test]
        fn rectangles_fill_the_canvas_without_overlap(mut weights in proptest::collection::vec(0u64..=u64::MAX, 1..60)) {
            weights.sort_unstable_by(|a, b| b.cmp(a));
            let rects = squarify(&weights, CANVAS);
            proptest::prop_assert_eq!(rects.len(), weights.len());
            let sum: f64 = weights.iter().map(|weight| *weight as f64).sum();
            let slack = 1e-6;
            for (rect, weight) in rects.iter().zip(&weights) {
                let area = *weight as f64 / sum.max(1.0) * CANVAS.width * CANVAS.height;
                proptest::prop_assert!((rect.width * rect.height - area).abs() < 1e-3);
                proptest::prop_assert!(rect.x >= -slack && rect.x + rect.width <= CANVAS.width + slack);
                proptest::prop_assert!(rect.y >= -slack && rect.y + rect.height <= CANVAS.height + slack);
            }
            let apart = |a: &Rect, b: &Rect| {
                a.x + a.width <= b.x + slack || b.x + b.width <= a.x + slack
                    || a.y + a.height <= b.y + slack || b.y + b.height <= a.y + slack
            };
            for (at, a) in rects.iter().enumerate() {
                proptest::prop_assert!(rects.iter().skip(at + 1).all(|b| apart(a, b)));
            }
        }
    }
}
