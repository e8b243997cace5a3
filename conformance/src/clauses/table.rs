//! The clauses, under the family whose file proves them.
//!
//! Left out is what a [`Store`](tabla_core::Store) cannot show, because its types do not let it be
//! asked or answered: that transactions name no index and stay in one account (36), that SDKs do
//! not retry conflicts (39), the capacity that a failed call consumed (42, 59) or that expiry does
//! not (55), and PartiQL's size gate (7). Waiting calls show CREATING only in passing (53, 54).

use super::Clause;
use crate::family::Family;

macro_rules! clauses {
    ($($family:ident { $($id:literal $text:literal;)+ })+) => {
        /// All clauses, in the order of the families.
        pub(super) const CLAUSES: &[Clause] =
            &[$($(Clause { id: $id, text: $text, family: Family::$family },)+)+];
    };
}

clauses! {
    Values {
        "1a" "a number keeps 38 significant digits exactly";
        "1b" "magnitudes from 1E-130 to 9.99…E+125 are stored, of either sign";
        "1c" "39 significant digits are refused";
        "1d" "1E126 and beyond is refused as overflow";
        "1e" "1E-131 and below is refused as underflow";
        "1f" "a zero's exponent is range-checked too: 0e126 overflows, 0e-131 underflows";
        "2a" "signs, zeros and points without meaning go: 00042, +5, .5, 1. become 42, 5, 0.5, 1";
        "2b" "-0 becomes 0";
        "2c" "an exponent is written out: 1.5E2 becomes 150";
        "2d" "trailing zeros of a fraction go: 1.200 becomes 1.2";
        "2e" "spaces, ++5, 0x5, 1_000, NaN, Infinity and 1e are no numbers";
        "3a" "1, 1.0 and 1e0 are one key: they address the same item";
        "3b" "1 and 1.0 in one batch write are a duplicate";
        "3c" "1 and 1.0 in one transaction are two operations on one item";
        "3d" "a batch get of 1 and 1.0 gives the item or refuses the duplicate, never it twice";
        "4a" "number sort keys are in numeric order, negative ones before zero";
        "4b" "number sort keys that differ in the 38th digit are different and in order";
        "4c" "string sort keys are in the order of their UTF-8 bytes";
        "4d" "binary sort keys are in the order of unsigned bytes, whatever their lengths";
        "5a" "addition and subtraction are decimal and exact";
        "5b" "a result beyond the largest magnitude is an error and changes nothing";
        "5c" "a result that needs more than 38 digits is an error and changes nothing";
        "6a" "a number's size is 1, and 1 per two digits on each side of the point";
        "6b" "a negative number's size is 1 more";
        "6c" "zeros at the ends of a number have no size: 100 and 1E125 are 2 bytes";
        "7a" "an item's size is its names in UTF-8 and its values";
        "7b" "a list or map is 3 bytes, and 1 per element, besides what it holds";
        "7c" "NULL and BOOL are 1 byte";
        "7d" "a put of 409,600 bytes is accepted, of 409,601 refused";
        "7e" "a batch write of 409,600 bytes is accepted, of 409,601 refused";
        "7f" "a transactional put of 409,600 bytes is accepted, of 409,601 refused";
        "8a" "an update that makes an item of more than 409,600 bytes is refused";
        "8b" "an update is charged 19 bytes per value it writes and 2 per one it clears, and 3";
        "9a" "empty strings and binaries are stored in attributes that are no keys";
        "9b" "an empty string or binary in the table's key is refused";
        "9c" "an empty string or binary in an index key is refused";
        "9d" "an empty set is refused at any depth";
        "9e" "a set may hold an empty string or an empty binary";
        "9f" "a set with a duplicate is refused";
        "9g" "duplicates in a number set are judged by value: 1 and 1.0";
        "10a" "a NULL that is false is refused";
        "10b" "31 nested containers are accepted";
        "10c" "32 nested containers are refused";
        "11a" "sets are equal whatever the order of their members";
        "11b" "sets come back sorted: strings and binaries by bytes, numbers by value";
        "12a" "a partition key of 2048 bytes is accepted, of 2049 refused";
        "12b" "a sort key of 1024 bytes is accepted, of 1025 refused";
        "12c" "key sizes are checked on reads too";
        "12d" "an empty attribute name is refused";
    }

    Conditions {
        "13a" "a reserved word cannot be used bare in a condition";
        "13b" "a reserved word is one in any case of its letters";
        "13c" "no reserved word in filters, key conditions, updates and projections either";
        "13d" "a reserved word can be used behind a placeholder";
        "14a" "a name placeholder that no expression uses is refused";
        "14b" "a value placeholder that no expression uses is refused";
        "14c" "placeholders without any expression are refused";
        "14d" "name placeholders begin with #, value placeholders with :";
        "14e" "placeholders may be numbers: #0, :0";
        "15a" "an expression of 4096 bytes is accepted, of 4097 refused";
        "15b" "an expression's length is that of its text, before placeholders are filled in";
        "15c" "a placeholder of 255 bytes is accepted, a longer one refused";
        "15d" "IN takes 100 operands, and not 101";
        "15e" "an expression may have 300 operators, and not 301";
        "16a" "doubled parentheses are refused";
        "16b" "single parentheses are accepted";
        "16c" "parentheses are judged alike in transactions";
        "17a" "BETWEEN with constant bounds the wrong way round is refused, whatever the item";
        "17b" "BETWEEN with constant bounds of two types is refused, whatever the item";
        "17c" "begins_with with a constant that is neither S nor B is refused, whatever the item";
        "17d" "a comparison of a path with itself is refused";
        "18a" "a comparison with a missing attribute is false";
        "18b" "<> with a missing attribute is true";
        "18c" "NOT turns the answer round, also for missing attributes";
        "18d" "the size of a missing attribute matches nothing";
        "19a" "the size of a string is its length in UTF-16 code units";
        "19b" "the size of a binary is its length in bytes";
        "19c" "the size of a set, list or map is how many elements it has";
        "20a" "contains finds a part of a string";
        "20b" "contains finds a member of a set";
        "20c" "contains compares numbers of a set by value";
        "20d" "contains finds an element of a list";
        "20e" "the type in attribute_type must be a value placeholder";
        "20f" "the type in attribute_type must be a type code";
        "21a" "a comparison of two types is false and no error";
    }

    Projections {
        "22a" "paths of which one lies in the other are refused";
        "22b" "two placeholders for one attribute are refused";
        "22c" "overlapping paths are refused even if there is no item";
        "22d" "paths to siblings come back as one map";
        "22e" "paths through one list element come back as one element";
        "22f" "list elements come back without gaps, in the order of their indexes";
        "22g" "a projection that matches nothing of an item gives an empty item";
        "22h" "keys come back only if they are asked for";
    }

    Updates {
        "23a" "all clauses read the item as it was: SET a = b, b = :x";
        "23b" "REMOVE counts list elements as they were";
        "23c" "overlapping paths are refused";
        "23d" "each keyword may stand once";
        "23e" "key attributes cannot be changed";
        "24a" "SET of a list element past the end appends, without padding";
        "24b" "several elements past the end are appended in the order of their indexes";
        "24c" "a missing parent makes the path invalid";
        "24d" "a parent of another type makes the path invalid";
        "24e" "REMOVE of what is not there does nothing";
        "25a" "list_append puts its first list before its second";
        "25b" "list_append takes if_not_exists as an operand";
        "25c" "parentheses around functions and sums are legal";
        "25d" "functions may be added and subtracted";
        "26a" "ADD takes numbers and sets only";
        "26b" "ADD to a missing number counts from 0";
        "26c" "ADD to a missing set makes it";
        "26d" "DELETE takes sets only";
        "26e" "DELETE of the last member removes the attribute";
        "26f" "SET n = n + :x with a missing n is an error, and makes no item";
        "27a" "an update with a key alone makes the item";
        "27b" "an update with a key alone leaves an item as it is";
    }

    KeyConditions {
        "21b" "a key condition with a value of another type is an error";
        "28a" "a query without equality on the partition key is refused";
        "28b" "two conditions on one key attribute are refused";
        "28c" "a range on the partition key is refused";
        "28d" "begins_with on the partition key is refused";
        "28e" "a condition on an attribute that is no key is refused";
        "28f" "every comparison, BETWEEN and begins_with work on the sort key";
        "28g" "operands may be the other way round: :v < sk";
        "28h" "begins_with is case-sensitive";
        "28i" "a nested path is refused";
    }

    Writes {
        "29a" "a put returns NONE or ALL_OLD, and refuses the others";
        "29b" "a delete returns NONE or ALL_OLD, and refuses the others";
        "29c" "an update returns nothing by default";
        "29d" "an update with ALL_OLD returns the item as it was";
        "29e" "an update with ALL_NEW returns the item as it is now";
        "29f" "an update with UPDATED_OLD returns what it touched as it was";
        "29g" "an update with UPDATED_NEW returns what it touched as it is now";
        "29h" "UPDATED_NEW of a nested path returns only that fragment";
        "29i" "UPDATED_NEW returns no attributes if nothing was set";
        "29j" "ALL_OLD of a missing item returns none";
        "30a" "a put whose condition fails returns the item in the error if asked";
        "30b" "an update whose condition fails returns the item in the error if asked";
        "30c" "a delete whose condition fails returns the item in the error if asked";
        "31a" "a condition on a missing item is judged on an empty one: attribute_not_exists holds";
        "31b" "an update whose condition fails leaves no ghost of a missing item";
        "31c" "a condition that needs an attribute fails on a missing item, for each write";
        "33a" "deleting a missing item succeeds";
        "34a" "a put with an index key attribute of another type is refused";
        "34b" "an update to an index key attribute of another type is refused";
        "34c" "an empty index key attribute is refused, on put and update";
        "34d" "a list, map, set, BOOL or NULL as an index key attribute is refused";
    }

    Batches {
        "35a" "a batch of 25 writes is accepted, of 26 refused";
        "35b" "a batch of the largest items is written, or says what was not";
        "35c" "two puts of one key in a batch are refused, and nothing is written";
        "35d" "a put and a delete of one key in a batch are refused, and nothing is written";
        "35e" "a batch has no conditions: a put replaces what is there";
        "35f" "a batch that was written has no unprocessed items";
        "35g" "a batch get of 100 keys is accepted, of 101 refused";
        "35h" "a batch get with one key twice is refused";
        "35i" "a batch get of more than 16 MB returns the rest as unprocessed keys";
        "59a" "a delete of a missing item in a batch consumes 1 unit";
    }

    Transactions {
        "30d" "a cancelled operation returns the item in its reason if asked";
        "36a" "100 operations are accepted, 101 refused";
        "36b" "operations of more than 4 MB together are refused";
        "36c" "two operations on one item are refused as a whole";
        "36d" "a transaction may span tables";
        "37a" "reasons stand in the order of the operations, None for innocent ones";
        "37b" "the message lists the codes in order";
        "37c" "all operations at fault are reported, not only the first";
        "38a" "an empty key fails the request as a whole";
        "38b" "a put of an item that is too large fails the request as a whole";
        "38c" "an expression with a wrong syntax or size fails the request as a whole";
        "38d" "an unused placeholder fails the request as a whole";
        "38e" "a bad table name fails the request as a whole";
        "38f" "a key of another type cancels, with the reason ValidationError";
        "38g" "an index key of another type cancels, with the reason ValidationError";
        "38h" "an update that makes the item too large cancels, with the reason ValidationError";
        "38i" "a missing table fails the request with ResourceNotFoundException";
        "39a" "a single write that meets a transaction fails with TransactionConflict or goes through";
        "39b" "transactions that meet are cancelled with TransactionConflict or go through";
        "39c" "a transactional read that meets a write is cancelled or sees a consistent state";
        "39d" "GetItem never conflicts";
        "41a" "a transaction is serialised with single writes: no update is lost";
        "41b" "a transaction is serialised with GetItem: what was seen once is not unseen";
        "41c" "transactions are serialised with each other: no write skew";
        "41d" "query, scan and batch get see only what is committed";
        "41e" "a transactional read sees all items at one moment";
        "42a" "a transactional write costs twice on the table";
        "42b" "a transactional write costs once on an index";
        "42c" "a ConditionCheck costs 2 write units";
        "42d" "index entries change together with the transaction, or not at all";
        "42e" "stream records are written together with the transaction, or not at all";
        "42f" "the token is kept together with the transaction, or not at all";
        "43a" "conditions see the items as they were before the transaction";
        "43b" "a ConditionCheck of attribute_not_exists holds for a missing item";
        "43c" "a ConditionCheck that fails cancels all writes";
    }

    Tokens {
        "40a" "the same token and content again changes nothing and succeeds";
        "40b" "the same token and content again reports read units";
        "40c" "the same token with other content is refused, and changes nothing";
        "40d" "a token is kept for ten minutes, and then forgotten";
        "40e" "of concurrent calls with one token, one is carried out";
        "40f" "a transaction that failed leaves its token unused";
    }

    Query {
        "44a" "Limit counts the items that are read, before the filter";
        "44b" "a page may have no items and go on";
        "44c" "Count is what passed the filter, ScannedCount what was read";
        "45a" "a page ends at 1 MB of what is read, before the filter";
        "45b" "a page ends at 1 MB of whole items, before the projection";
        "45c" "a page of an index ends at 1 MB of what the index carries";
        "45d" "an item larger than what is left of the page is returned all the same";
        "48a" "a consistent query of a global index is refused";
        "48b" "a consistent scan of a global index is refused";
        "48c" "a consistent count of a global index is refused";
        "48d" "a consistent read of a local index is allowed";
        "50a" "COUNT with a projection is refused";
        "50b" "SPECIFIC_ATTRIBUTES without a projection is refused";
        "50c" "ALL_PROJECTED_ATTRIBUTES without an index is refused";
        "52a" "a descending query gives the sort key in descending order";
        "52b" "a descending query stays in its partition, with ranges and limits";
    }

    Scan {
        "51a" "a segment is less than the number of segments";
        "51b" "there are 1 to 1,000,000 segments";
        "51c" "segment and number of segments are given both or not at all";
        "51d" "segments are disjoint and cover everything";
        "51e" "a segment goes on after its cursor item was deleted";
        "51f" "a scan gives every item once, in an order that nobody may rely on";
    }

    Pagination {
        "46a" "the last key of an index page has the keys of index and table";
        "46b" "items with equal index keys are neither repeated nor skipped between pages";
        "46c" "a page begins after a key whose item no longer exists";
        "46d" "a start key of another partition is refused";
        "46e" "a start key outside the range of the sort key is refused";
        "46f" "the upper bound of BETWEEN holds on the second page";
        "47a" "a page that ends at the last item may have a last key; the next page is then empty";
        "52c" "a global index without a sort key is paged by the table's keys";
    }

    Indexes {
        "34e" "an item without the index's partition key is not in the index";
        "34f" "an item without the index's sort key is not in the index";
        "49a" "a global index gives only what it carries";
        "49b" "asking a global index for what it does not carry is refused";
        "49c" "a local index fetches what it does not carry from the table";
        "49d" "a local index charges for what it fetches";
        "49e" "ALL_ATTRIBUTES of a global index that does not carry all is refused";
        "54e" "an index key may have four attributes in each half";
        "54f" "an index key of five attributes in a half is refused";
        "54g" "a query must give every partition attribute by equality";
        "54h" "a query may give a leading run of sort attributes, without gaps";
        "54i" "an inequality may stand only on the last sort attribute given";
    }

    Tables {
        "53a" "a created table is ACTIVE and described as it was asked for";
        "53b" "a key attribute without a definition is refused";
        "53c" "a definition that no key uses is refused";
        "53d" "20 global indexes are accepted, 21 refused";
        "53e" "5 local indexes are accepted, 6 refused";
        "53f" "INCLUDE without attributes is refused";
        "53g" "100 projected attributes over all indexes are accepted, 101 refused";
        "53h" "a protected table is not deleted";
        "54a" "one index is created or deleted per call";
        "54b" "a new index has the items that were there before";
        "54c" "items whose attributes do not fit a new index are left out of it";
        "54d" "a new index is ACTIVE when the call answers, a deleted one gone";
        "61a" "table names have 3 to 255 characters";
        "61b" "table names have letters, digits, _, - and . only";
        "61c" "a table may be named by its ARN";
    }

    Ttl {
        "55a" "only a top-level number expires an item";
        "55b" "the time is in seconds since the epoch";
        "55c" "an item that expired more than five years ago is kept";
        "55d" "an expired item is read, written and counted until it is deleted";
        "55e" "expired items are deleted in the background, from indexes too";
        "55f" "the stream shows an expiry as a REMOVE by the service";
        "55g" "another attribute needs expiry to be disabled first";
        "55h" "expiry cannot be changed again within an hour";
    }

    Streams {
        "56a" "records are kept for 24 hours";
        "56b" "each change has exactly one record";
        "56c" "the records of an item are in the order of its changes";
        "56d" "KEYS_ONLY carries the keys";
        "56e" "NEW_IMAGE carries the item after the change";
        "56f" "OLD_IMAGE carries the item before the change";
        "56g" "NEW_AND_OLD_IMAGES carries both";
        "56h" "a put or update that changes nothing writes no record";
        "56i" "INSERT, MODIFY and REMOVE tell whether the item was there";
        "56j" "sequence numbers have 21 to 40 digits and rise";
        "56k" "event ids are unique";
        "56l" "TRIM_HORIZON begins at the oldest record, LATEST after the newest";
        "56m" "AT begins at a record, AFTER behind it";
        "56n" "a position that is none is refused";
        "56o" "a disabled stream can be read for 24 hours";
        "56p" "the view of a stream cannot be changed";
        "56q" "a shard filter lists the children of a shard";
        "57a" "a transaction is a record per item, like single writes";
    }

    Capacity {
        "58a" "an eventually consistent read costs 0.5 per 4 KB";
        "58b" "a consistent read costs 1 per 4 KB";
        "58c" "a transactional read costs 2 per 4 KB";
        "58d" "a read costs by the whole item, before projection and filter";
        "58e" "a query or scan adds up sizes, then rounds";
        "58f" "reading a missing item costs the least unit";
        "58g" "a write costs 1 per KB of the larger of old and new item";
        "58h" "an index whose view of the item stays the same costs nothing";
        "58i" "an index entry that appears, changes or goes costs its size once";
        "58j" "an index entry that moves to another key costs twice";
        "58k" "INDEXES breaks the cost down by table and index";
        "60a" "item-collection metrics come only for tables with local indexes";
        "60b" "a small item collection is between 0 and 1 GB";
    }

    Laws {
        "32a" "unconditional writes at the same time never fail";
        "32b" "ADDs at the same time all count";
    }
}
