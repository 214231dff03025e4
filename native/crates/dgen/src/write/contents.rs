//! Expected contents of a written file.

use crate::data::{Data, Differences, Settings, SettingsError};

/// The contents of a file: the data, or the first bytes of them over and over.
#[derive(Clone, Debug)]
pub struct FileContents {
    data: Data,
    /// Offset of the file in the data.
    base: u64,
    /// Bytes after which the data begin again.
    period: Option<u64>,
}

impl FileContents {
    /// The data of `settings`, from the start again after each `period` bytes if there is one.
    ///
    /// # Errors
    /// The settings contradict each other.
    pub fn with_period(settings: &Settings, period: Option<u64>) -> Result<Self, SettingsError> {
        Ok(Self {
            data: Data::new(settings)?,
            base: 0,
            period: period.filter(|&period| period > 0),
        })
    }

    /// The contents of file `index` of several. Those of a pool are the same in each.
    #[must_use]
    pub fn for_file(&self, index: usize) -> Self {
        let base = match self.period {
            None => (index as u64).wrapping_mul(self.data.stride()),
            Some(_) => 0,
        };
        Self {
            base,
            ..self.clone()
        }
    }

    /// The data that the buffers are filled with.
    #[must_use]
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// Text that is equal if and only if the contents of a file of `size` bytes are.
    #[must_use]
    pub fn identity(&self, size: u64) -> String {
        let data = self.data.identity();
        match self.period {
            Some(period) if period < size => format!("pool:{period} {data}"),
            _ => data,
        }
    }

    /// Compares `actual`, the bytes at `offset` of the file, and adds the differences to `report`.
    pub fn differences(&self, offset: u64, actual: &[u8], report: &mut Differences) {
        let Some(period) = self.period else {
            let mut found = Differences::default();
            let at = self.base.wrapping_add(offset);
            self.data.differences(at, actual, &mut found);
            found.first = found.first.map(|first| first.wrapping_sub(self.base));
            return report.merge(found);
        };
        let (mut offset, mut rest) = (offset, actual);
        while !rest.is_empty() {
            let within = offset % period;
            let room = usize::try_from(period - within).unwrap_or(usize::MAX);
            let (part, behind) = rest.split_at(rest.len().min(room));
            let mut found = Differences::default();
            self.data.differences(within, part, &mut found);
            found.first = found.first.map(|first| first - within + offset);
            report.merge(found);
            offset += part.len() as u64;
            rest = behind;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_repeats_and_a_difference_is_reported_at_its_offset_in_the_file() {
        let expected = FileContents::with_period(&Settings::default(), Some(1000)).unwrap();
        let mut file = vec![0; 3500];
        for part in file.chunks_mut(1000) {
            expected.data().fill(0, part);
        }
        let mut report = Differences::default();
        expected.differences(0, &file[..700], &mut report);
        expected.differences(700, &file[700..], &mut report);
        assert_eq!((report.count, report.compared), (0, 3500));
        file[2345] ^= 1;
        expected.differences(0, &file, &mut report);
        assert_eq!((report.count, report.first), (1, Some(2345)));
        assert_eq!(report.actual[0], file[2345]);
        assert_ne!(expected.identity(1000), expected.identity(1001));
    }

    #[test]
    fn a_difference_in_a_later_file_is_reported_at_its_offset_in_that_file() {
        let expected = FileContents::with_period(&Settings::default(), None).unwrap();
        let mut file = vec![0; 9000];
        let third = 3 * expected.data().stride();
        expected.data().fill(third, &mut file);
        file[4321] ^= 1;
        let mut report = Differences::default();
        expected.for_file(3).differences(0, &file, &mut report);
        assert_eq!((report.count, report.first), (1, Some(4321)));
    }
}
