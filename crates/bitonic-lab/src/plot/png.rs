//! Drawings as pixels.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};
use std::sync::Arc;

/// The font of all plots; `font/LICENSE` says where it is from.
const FONT: &[u8] = include_bytes!("font/DejaVuSans.ttf");

/// How many pixels there are for each unit of a drawing: enough for print.
const SCALE: f32 = 2.0;

/// Why there are no pixels.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the plot could not be drawn: {0}")]
pub struct PngError(String);

/// A drawing as a PNG file, twice as large. All text is drawn with the laboratory's own font.
///
/// # Errors
///
/// If the text is no drawing.
pub fn png(svg: &str) -> Result<Vec<u8>, PngError> {
    let failed = |reason: String| PngError(reason);
    let mut options = Options { font_family: "DejaVu Sans".to_owned(), ..Options::default() };
    let fonts = Arc::make_mut(&mut options.fontdb);
    fonts.load_font_data(FONT.to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    let tree = Tree::from_str(svg, &options).map_err(|error| failed(error.to_string()))?;
    let size = tree.size();
    let (width, height) = ((size.width() * SCALE).ceil() as u32, (size.height() * SCALE).ceil() as u32);
    let mut pixels = Pixmap::new(width, height)
        .ok_or_else(|| failed(format!("{width} x {height} pixels are too many")))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many pixels of a drawing are not white.
    fn ink(svg: &str) -> usize {
        let pixels = Pixmap::decode_png(&png(svg).unwrap()).unwrap();
        pixels.pixels().iter().filter(|pixel| pixel.red() < 128).count()
    }

    #[test]
    fn text_is_drawn_without_fonts_of_the_system() {
        let svg = |text: &str| {
            format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 200 40\" width=\"200\" height=\"40\">\
                 <rect width=\"200\" height=\"40\" fill=\"#fff\"/><text y=\"25\" font-family=\"sans-serif\">{text}</text></svg>"
            )
        };
        assert_eq!(ink(&svg("")), 0);
        let (short, long) = (ink(&svg("µs")), ink(&svg("n log² n → 2.35 µs")));
        assert!(short > 50 && long > 3 * short, "{short} and {long} pixels");
    }
}
