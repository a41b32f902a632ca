//! Vector sets, part of Redis since 8.0, from the items that they are stored as.
//!
//! ```text
//! dimension, elements, configuration, flags, (input dimension, matrix)?
//! each element: name, attributes?, vector, count of numbers, id, layers, (links, most links, ids…, worst link?)…, norm
//! ```
//!
//! Vectors stay as they are: quantized ones have lost what they were made from.

use super::series::Items;
use super::value::Item;
use crate::record::Quantization;

/// Flag of a set that reduces the dimension of its vectors.
const PROJECTED: u64 = 1;
/// Flag of a set whose elements are stored with their attributes.
const ATTRIBUTED: u64 = 2;
/// Place of the serialization version in the number that tells the layers of an element.
const VERSION_SHIFT: u32 = 24;

/// Vector set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorSet {
    /// Numbers of each stored vector.
    pub dimension: u64,
    /// Numbers of the vectors that were given, if the set reduces them.
    pub input_dimension: Option<u64>,
    /// How vectors are stored.
    pub quantization: Quantization,
    /// Greatest number of links of an element on each layer; on the lowest it is twice as large.
    pub most_links: u64,
    /// Elements, in file order.
    pub elements: Vec<VectorElement>,
}

/// Element of a vector set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorElement {
    /// Its name.
    pub name: Vec<u8>,
    /// Its attributes, if it has any.
    pub attributes: Option<Vec<u8>>,
    /// Number of links on each layer of the graph, the lowest first.
    pub links: Vec<u64>,
}

impl VectorSet {
    /// Returns the set that these items are; `None` if they are not one.
    pub fn new(items: &[Item]) -> Option<VectorSet> {
        let mut items = Items(items);
        let (dimension, count) = (items.number()?, items.number()?);
        let (config, flags) = (items.number()?, items.number()?);
        let quantization = Quantization::from_number(config & 0xff)?;
        let input_dimension = if flags & PROJECTED == 0 {
            None
        } else {
            let dimension = items.number()?;
            items.text()?;
            Some(dimension)
        };
        // The count is a claim: elements are added as they are read.
        let mut elements = Vec::new();
        for _ in 0..count {
            elements.push(element(&mut items, flags & ATTRIBUTED != 0)?);
        }
        let most_links = config >> 8 & 0xffff;
        items.0.is_empty().then_some(VectorSet { dimension, input_dimension, quantization, most_links, elements })
    }
}

fn element(items: &mut Items<'_>, attributed: bool) -> Option<VectorElement> {
    let name = items.text()?.to_vec();
    let attributes = if attributed { Some(items.text()?).filter(|text| !text.is_empty()) } else { None };
    items.text()?;
    let count = usize::try_from(items.number()?).ok()?;
    let (numbers, rest) = items.0.split_at_checked(count)?;
    items.0 = rest;
    Some(VectorElement { name, attributes: attributes.map(<[u8]>::to_vec), links: links(&mut Items(numbers))? })
}

/// Returns the number of links on each layer.
fn links(numbers: &mut Items<'_>) -> Option<Vec<u64>> {
    numbers.number()?;
    let layers = numbers.number()?;
    let has_worst = layers >> VERSION_SHIFT & 0xff > 0;
    let mut links = Vec::new();
    for _ in 0..=(layers & 0xff) {
        let count = numbers.number()?;
        numbers.number()?;
        let ids = usize::try_from(count).ok()?.checked_add(usize::from(has_worst))?;
        numbers.0 = numbers.0.get(ids..)?;
        links.push(count);
    }
    numbers.number()?;
    numbers.0.is_empty().then_some(links)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Item {
        Item::Text(text.as_bytes().to_vec())
    }

    fn numbers(numbers: &[i64]) -> Vec<Item> {
        numbers.iter().map(|number| Item::Integer(*number)).collect()
    }

    /// Items of a set of two elements, the second on two layers and written by the first version.
    fn items() -> Vec<Item> {
        let first = [&[text("a"), text("{\"x\":1}"), text("vec")][..], &numbers(&[8, 1, 1 << 24, 2, 32, 9, 7, 0, 5])];
        let second = [&[text("b"), text(""), text("vec")][..], &numbers(&[8, 9, 1, 1, 32, 1, 0, 16, 5])];
        let head = [numbers(&[3, 2, 1 | 16 << 8, 3, 30]), vec![text("matrix")]].concat();
        [head, first.concat(), second.concat()].concat()
    }

    #[test]
    fn elements_have_attributes_and_links_by_layer() {
        let set = VectorSet::new(&items()).unwrap();
        assert_eq!((set.dimension, set.input_dimension, set.most_links), (3, Some(30), 16));
        assert_eq!(set.quantization, Quantization::Int8);
        let element = |name: &[u8], attributes: Option<&[u8]>, links: &[u64]| VectorElement {
            name: name.to_vec(),
            attributes: attributes.map(<[u8]>::to_vec),
            links: links.to_vec(),
        };
        assert_eq!(set.elements, [element(b"a", Some(b"{\"x\":1}"), &[2]), element(b"b", None, &[1, 0])]);
    }

    #[test]
    fn items_that_do_not_fit_together_are_no_set() {
        let whole = items();
        for end in 0..whole.len() {
            assert!(VectorSet::new(&whole[..end]).is_none(), "{end} items");
        }
        let with = |place: usize, number: i64| {
            let mut items = items();
            items[place] = Item::Integer(number);
            VectorSet::new(&items)
        };
        assert!(VectorSet::new(&[items(), numbers(&[1])].concat()).is_none());
        for (place, number) in [(1, 1), (1, i64::MAX), (2, 3), (9, -1), (9, 7), (12, 3), (12, -1)] {
            assert!(with(place, number).is_none(), "{number} at {place}");
        }
    }
}
